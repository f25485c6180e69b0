import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadSettingsFile, takeEnvFile } from '../../src/config/settings-file.ts'
import { HintedError } from '../../src/process/error-hints.ts'

const folder = mkdtempSync(join(tmpdir(), 'footfall-settings-'))
after(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)
const written = (name: string, text: string) => {
  writeFileSync(at(name), text)
  return at(name)
}
const known = ['PORT', 'HOST', 'KEY_SECRETS', 'DATABASE_URL', 'LOG_LEVEL', 'MAIL_FROM']

/** What a process has after it has read the file. */
function load(text: string, environment: Record<string, string | undefined> = {}) {
  const file = written('one.env', text)
  assert.equal(loadSettingsFile(environment, known, file), file)
  return environment
}

function refusal(text: string): string {
  const file = written('one.env', text)
  try {
    loadSettingsFile({}, known, file)
  } catch (error) {
    assert.ok(error instanceof HintedError)
    return error.message.replace(file, 'FILE')
  }
  throw new Error('it was accepted')
}

test('exactly one file is read: the named one, else the first that exists; the environment takes precedence', () => {
  const [named, here, system] = [
    written('named.env', 'PORT=1\n'),
    written('here.env', 'PORT=2\nHOST=here\n'),
    written('system.env', 'PORT=3\nHOST=system\nLOG_LEVEL=warn\n'),
  ]
  const read = (environment: Record<string, string>, name: string | undefined, files: string[]) => {
    const file = loadSettingsFile(environment, known, name, files)
    const { PORT, HOST, LOG_LEVEL } = environment
    return { file, PORT, HOST, LOG_LEVEL }
  }
  const unset = { PORT: undefined, HOST: undefined, LOG_LEVEL: undefined }
  assert.deepEqual(read({}, named, [here, system]), { ...unset, file: named, PORT: '1' })
  assert.deepEqual(read({}, undefined, [here, system]), { ...unset, file: here, PORT: '2', HOST: 'here' })
  assert.deepEqual(read({ PORT: '9' }, undefined, [at('none'), system]), {
    file: system,
    PORT: '9',
    HOST: 'system',
    LOG_LEVEL: 'warn',
  })
  // An empty variable of the environment counts: it unsets what the file says.
  assert.equal(read({ HOST: '' }, undefined, [here]).HOST, '')
  assert.deepEqual(read({}, undefined, [at('none')]), { ...unset, file: undefined })
  assert.deepEqual(read({ FOOTFALL_NO_ENV_FILE: '1' }, undefined, [here]), { ...unset, file: undefined })
})

test('processes that this one starts have all settings, and read no file', () => {
  assert.equal(load('PORT=1').FOOTFALL_NO_ENV_FILE, '1')
  const environment: Record<string, string | undefined> = {}
  loadSettingsFile(environment, known, undefined, [])
  assert.equal(environment.FOOTFALL_NO_ENV_FILE, '1')
})

test('values are taken as they are written', () => {
  const { FOOTFALL_NO_ENV_FILE: _, ...values } = load(
    [
      '# a comment',
      '',
      '  # another one',
      'DATABASE_URL=postgres://me:p#ss=w%rd@db/footfall?a=b',
      'export PORT = 8080 \r',
      'KEY_SECRETS="1:$HOME \\n # no comment"',
      "MAIL_FROM='Stats <stats@example.com>'",
      'HOST=',
    ].join('\n'),
  )
  assert.deepEqual(values, {
    DATABASE_URL: 'postgres://me:p#ss=w%rd@db/footfall?a=b',
    PORT: '8080',
    KEY_SECRETS: '1:$HOME \\n # no comment',
    MAIL_FROM: 'Stats <stats@example.com>',
    HOST: '',
  })
})

test('every line that is no setting is named with its number, and never repeated', () => {
  assert.equal(
    refusal(
      [
        'PORT=8080',
        'PUBLIC_ULR=https://hunter2.example',
        'hunter2',
        'LOG LEVEL=hunter2',
        'KEY_SECRETS="1:hunter2',
        'HOST="a" hunter2',
        'LOG_LEVEL=warn # hunter2',
        'PORT=8081',
      ].join('\n'),
    ),
    [
      'FILE is not usable:',
      '  line 2: PUBLIC_ULR is not a setting',
      '  line 3 is not NAME=value',
      '  line 4 is not NAME=value',
      '  line 5: the value of KEY_SECRETS has no closing quote',
      '  line 6: the value of HOST goes on after its closing quote',
      '  line 7: write the comment after LOG_LEVEL on a line of its own, or the value in quotes',
      '  line 8: PORT was set in line 1 already',
    ].join('\n'),
  )
})

test('a named file that does not exist is not the same as one that cannot be read', () => {
  const thrown = (file: string) => {
    try {
      loadSettingsFile({}, known, file)
    } catch (error) {
      return `${(error as Error).message} ${(error as HintedError).hint}`
    }
    return ''
  }
  assert.match(thrown(at('none.env')), /none\.env does not exist\. .*--env-file/)
  mkdirSync(at('folder.env'))
  assert.match(thrown(at('folder.env')), /folder\.env .*EISDIR/)
})

test('--env-file is found before and after the command, and nothing else is taken', () => {
  assert.deepEqual(takeEnvFile(['doctor', '--json']), { file: undefined, words: ['doctor', '--json'] })
  assert.deepEqual(takeEnvFile(['--env-file', 'a', 'doctor']), { file: 'a', words: ['doctor'] })
  assert.deepEqual(takeEnvFile(['doctor', '--env-file=a=b', '--json']), { file: 'a=b', words: ['doctor', '--json'] })
  assert.deepEqual(takeEnvFile(['x', '--', '--env-file', 'a']), {
    file: undefined,
    words: ['x', '--', '--env-file', 'a'],
  })
  for (const words of [['--env-file'], ['--env-file', '--json'], ['--env-file=']])
    assert.throws(() => takeEnvFile(words), /--env-file needs the name of a file/)
})
