// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
// What the tests of the shipper must notice.
import type { Mutation } from './mutations.ts'

const shipper = 'test/collector/shipper.test.ts'
const shipped = 'test/collector/shipped.test.ts'
const shipping = 'test/collector/shipping.test.ts'

export const shipperMutations: Mutation[] = [
  {
    name: 'shipper: the same id comes through again in the next batch',
    file: 'src/collector/shipper/shipper.ts',
    find: 'keys.has(key) || shipped.hasKey(key)',
    replace: 'keys.has(key)',
    caughtBy: shipper,
  },
  {
    name: 'shipper: after a doubt everything is sent again under another token',
    file: 'src/traffic/recording.ts',
    find: "hash('sha256', `${id} ${events.map(keyOf).join(' ')}`)",
    replace: "hash('sha256', `${id} ${events.map(keyOf).join(' ')} ${Math.random()}`)",
    caughtBy: shipper,
  },
  {
    name: 'shipper: what the engine has is told by the id alone',
    file: 'src/traffic/recording.ts',
    find: '=> `${siteId} ${eventId}`',
    replace: '=> (siteId ? eventId : siteId)',
    caughtBy: shipping,
  },
  {
    name: 'shipper: a token stands for the first row and the number of rows',
    file: 'src/traffic/recording.ts',
    find: "${events.map(keyOf).join(' ')}",
    replace: '${events[0]?.eventId} ${events.length}',
    caughtBy: shipping,
  },
  {
    name: 'shipper: ids are forgotten with the process',
    file: 'src/collector/shipper/shipped.ts',
    find: 'kept.iterate(now() - keptMs)',
    replace: 'kept.iterate(now() + 1)',
    caughtBy: shipper,
  },
  {
    name: 'shipper: ids are kept on disk for ever',
    file: 'src/collector/shipper/shipped.ts',
    find: 'DELETE FROM batches WHERE shipped_at < ? OR number < ?',
    replace: 'DELETE FROM batches WHERE shipped_at < ? AND number < ?',
    caughtBy: shipped,
  },
  {
    name: 'shipper: a batch that was recorded and not removed is taken for a repetition of itself',
    file: 'src/collector/shipper/shipper.ts',
    find: 'if (shipped.hasBatch(spooled.id)) {',
    replace: "if (shipped.hasBatch('')) {",
    caughtBy: shipped,
  },
  {
    name: 'shipper: a batch leaves the spool before what is to be told of it is on disk',
    file: 'src/collector/shipper/shipper.ts',
    find: '  shipped.keep(spooled.id, keys, events)\n  spooled.remove()\n',
    replace: '  spooled.remove()\n  shipped.keep(spooled.id, keys, events)\n',
    caughtBy: shipped,
  },
  {
    name: 'shipper: only days before today are late',
    file: 'src/collector/shipper/shipped.ts',
    find: 'for (const { siteId, day, count } of countByDay(events)) addNote',
    replace:
      'for (const { siteId, day, count } of countByDay(events)) if (day < new Date(now()).toISOString().slice(0, 10)) addNote',
    caughtBy: shipped,
  },
  {
    name: 'shipper: what is shipped while its day is noted is forgotten with the note',
    file: 'src/collector/shipper/shipped.ts',
    find: 'SET number = (SELECT max(number) + 1 FROM notes), events',
    replace: 'SET events',
    caughtBy: shipped,
  },
  {
    name: 'shipper: notes are forgotten when they could not be delivered',
    file: 'src/collector/shipper/notes.ts',
    find: '    await readers.noteLateDays(notes)\n',
    replace: '    shipped.forget(notes)\n    await readers.noteLateDays(notes)\n',
    caughtBy: shipped,
  },
  {
    name: 'shipper: of many notes only the first are delivered',
    file: 'src/collector/shipper/notes.ts',
    find: 'notes.length < notesAtOnce ? [] : shipped.notes()',
    replace: '[]',
    caughtBy: shipped,
  },
  {
    name: 'shipper: nobody asks whether the site was deleted',
    file: 'src/collector/shipper/notes.ts',
    find: 'readers.eraseDeleted([...new Set(notes.map(({ siteId }) => siteId))])',
    replace: 'readers.eraseDeleted([])',
    caughtBy: shipped,
  },
  {
    name: 'shipper: PostgreSQL is asked about every day whether it is kept',
    file: 'src/collector/shipper/shipper.ts',
    find: 'const surelyKeptMs = 700 * 86_400_000',
    replace: 'const surelyKeptMs = 0',
    caughtBy: shipped,
  },
  {
    name: 'lag: a new group is as old as the one that had its number',
    file: 'src/collector/spool-worker.ts',
    find: 'insert.run(++lastGroup, message.events',
    replace: 'insert.run(null, message.events',
    caughtBy: shipping,
  },
  {
    name: 'lag: a file that goes while it is looked at closes the spool',
    file: 'src/collector/spool-age.ts',
    find: '      } catch {\n',
    replace: '      } catch (error) {\n        if (folder) throw error\n',
    caughtBy: 'test/collector/spool-age.test.ts',
  },
  {
    name: 'lag: it stands still with the shipper',
    file: 'src/collector/metrics.ts',
    find: '      oldest = measures.oldest\n',
    replace: '',
    caughtBy: shipping,
  },
  {
    name: 'sessions: a start reads only what the engine has',
    file: 'src/collector/recent-sessions.ts',
    find: 'if (event.time < since || hits.length === mostHits) return hits',
    replace: 'if (event.time >= since || hits.length === mostHits) return hits',
    caughtBy: 'test/collector/outages.test.ts',
  },
]
