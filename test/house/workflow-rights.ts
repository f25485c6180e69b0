// What a job of a workflow may do and which code it loads: its own permissions, actions by their commit, and no token left in the checkout.

/** Faults as `job: what is wrong`. */
export function rightsFaults(text: string): string[] {
  const [head = '', jobs = ''] = text.split(/^jobs:\n/m)
  return [
    // A job that forgets its permissions has none.
    ...(/^permissions: \{\}$/m.test(head) ? [] : ['the workflow has permissions of its own']),
    ...jobs.split(/^(?= {2}[\w-]+:$)/m).flatMap((job) => {
      const [, name] = /^ {2}([\w-]+):$/m.exec(job) ?? []
      return jobFaults(job).map((fault) => `${name}: ${fault}`)
    }),
  ]
}

function jobFaults(job: string): string[] {
  const steps = job.split(/^(?= {6}- )/m).slice(1)
  return [
    ...(/^ {4}permissions:\n(?: {6}[\w-]+: (?:read|write)\n)+/m.test(job) ? [] : ['no permissions']),
    ...steps.flatMap((step) => {
      const [, action] = /^ +(?:- )?uses: (.*)$/m.exec(step) ?? []
      if (action === undefined) return []
      const isPinned = /^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)
      const keepsToken = action.startsWith('actions/checkout@') && !/^ {10}persist-credentials: false$/m.test(step)
      return [
        ...(isPinned ? [] : [`${action} is not a commit with its version`]),
        ...(keepsToken ? ['the checkout keeps the token'] : []),
      ]
    }),
  ]
}
