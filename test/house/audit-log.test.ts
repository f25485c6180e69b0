import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTree, type Tree, tree } from './tree.ts'

/** Whoever writes an entry elsewhere can change something without it, or in another transaction. */
const writersElsewhere = (files: Tree): string[] =>
  [...files].flatMap(([path, text]) =>
    !path.startsWith('src/users/') && /\brecord(Action|OfUser)\b|\bINTO audit_log\b/.test(text) ? [path] : [],
  )

test('only src/users writes entries of the audit log', () => {
  assert.deepEqual(writersElsewhere(readTree('src')), [])
})

test('an entry that is written elsewhere is found', () => {
  const planted = tree({
    'src/users/sessions.ts': "import { recordOfUser } from './audit-log.ts'",
    'src/console/pages/members.ts': "import { recordAction } from '../../users/audit-log.ts'",
    'src/console/pages/reset.ts': "import {\n  type Actor,\n  recordOfUser as note,\n} from '../../users/audit-log.ts'",
    'src/cli/user.ts': 'await postgres`INSERT INTO audit_log DEFAULT VALUES`',
    'src/console/pages/audit-log.ts': "import { recordedActions } from '../../users/audit-log.ts'",
  })
  assert.deepEqual(writersElsewhere(planted), [
    'src/console/pages/members.ts',
    'src/console/pages/reset.ts',
    'src/cli/user.ts',
  ])
})
