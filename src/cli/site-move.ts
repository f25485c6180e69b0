import { CannotMove } from '../moving/cannot-move.ts'
import { moveSite, type Step } from '../moving/move-site.ts'
import { cancelMove, type Refusal } from '../moving/moves.ts'
import { type Command, CommandError } from './command.ts'
import { siteOf } from './site-reference.ts'
import { showProgress } from './terminal.ts'

/** What each step does, for the progress. */
const steps: Partial<Record<Step, string>> = {
  copying: 'Copying',
  holding: 'Waiting until the collectors hold back new events',
  comparing: 'Copying the rest, and comparing',
  moved: 'Moved. Waiting until every process knows it',
}

const refusals: Record<Refusal, [message: string, hint: string]> = {
  'no site': ['The site was deleted.', 'See them all with: footfall site list'],
  'already there': ['The site is already on this shard.', 'See the shards with: footfall shard status'],
  'moves elsewhere': [
    'The site is being moved to another shard.',
    'Finish that move, or give it up with: footfall site move <site> --cancel',
  ],
  'old copy': [
    'The shard still has an old copy of the site, which is erased 20 minutes after the site has left it.',
    'Repeat the command later.',
  ],
}

const underWay = [
  'Another command is moving the site.',
  'Stop that command, or wait half a minute if it was killed, then repeat this one.',
] as const

export const move: Command = {
  summary: 'Move a site to another shard of ClickHouse, while it is read and written',
  usage: '<site> <shard> | <site> --cancel',
  options: { cancel: { type: 'boolean' } },
  optionHelp: { cancel: 'give up a move that was interrupted: the site stays where it is, and the copy is erased' },
  examples: ['footfall site move example.com 2'],
  async run(input, { postgres, cluster, progressTo }) {
    const [reference, number] = input.positionals
    const isCancelled = input.options.cancel === true
    if (!reference || input.positionals.length !== (isCancelled ? 1 : 2))
      throw new CommandError('Which site, and to which shard?', 'footfall site move <site> <shard>')
    const site = await siteOf(postgres, reference)
    if (isCancelled) {
      const isGivenUp = await cancelMove(postgres, site.id)
      if (isGivenUp === undefined) throw new CommandError(...underWay)
      if (!isGivenUp)
        throw new CommandError(`${site.domain} is not being moved.`, 'See moves with: footfall shard status')
      return {
        data: { id: site.id, shard: site.shard, cancelled: true },
        show: () => `${site.domain} stays on shard ${site.shard}.`,
      }
    }
    const shard = Number(number)
    const used = await postgres`SELECT FROM shards WHERE number = ${shard || 0}`
    if (used.length === 0 || !cluster.shards.some((one) => one.shard === shard))
      throw new CommandError(`There is no shard ${number}.`, 'See them with: footfall shard status')
    const progress = showProgress(progressTo, 'Copying', 'rows')
    const outcome = await moveSite(
      { postgres, cluster },
      {
        siteId: site.id,
        shard,
        onProgress: progress.update,
        onStep(step) {
          progress.end()
          if (steps[step]) progressTo.write(`${steps[step]}\n`)
        },
      },
    ).catch((error) => {
      if (error instanceof CannotMove)
        throw new CommandError(error.message, `${site.domain} stays on shard ${site.shard}.`)
      throw error
    })
    if (outcome === undefined) throw new CommandError(...underWay)
    if (outcome !== 'moved') throw new CommandError(...refusals[outcome])
    return {
      data: { id: site.id, from: site.shard, shard },
      show: (terminal) =>
        `Moved ${terminal.bold(site.domain)} from shard ${site.shard} to shard ${shard}. The old copy is erased in 20 minutes.`,
    }
  },
}
