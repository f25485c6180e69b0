// Hostile strings: text that ends a literal, a parameter, an array, a statement or a URL, alone and in any combination.
import type { Random } from '../../support/random.ts'

const fragments = [
  ...[
    "'",
    '"',
    '`',
    '\\',
    "\\'",
    "''",
    "\\\\'",
    '\\"',
    '’',
    '＇',
    'ʼ',
    '`"\'',
    '\\x27',
    '\\u0027',
    '%27',
    '0x27',
    '\\0',
    '\\N',
    '\\b',
  ],
  ...['\u0000', '\n', '\r', '\r\n', '\t', '\b', '\f', '\v', '\u0007', '\u001a', '\u001b', '\u007f', '\u0080', '\u009f'],
  ...[
    '{p0:String}',
    '{p1:String}',
    '{p0:Identifier}',
    '{',
    '}',
    '{}',
    '{p0',
    ':String}',
    '{p0:Array(String)}',
    '$1',
    '$$',
    '$tag$',
  ],
  ...['[', ']', "']", "['", "','", ',', '],[', '(', ')', "')", '))', '(SELECT 1)', 'array(1)'],
  ...[
    ' OR 1=1',
    ' AND 0',
    ' UNION ALL SELECT 1',
    '; DROP TABLE events',
    '; SELECT 1',
    ';',
    '--',
    '-- ',
    '#',
    '/*',
    '*/',
    '/**/',
  ],
  ...[
    ' FORMAT Null',
    ' SETTINGS readonly=0',
    ' INTO OUTFILE',
    "url('http://x')",
    "file('/etc/passwd')",
    'sleep(3)',
    'remote()',
  ],
  ...['&param_p0=x', '?query=SELECT', '&', '?', '=', '%', '%%', '_', '%00', '%zz', '+', '%2B', ' ', '  ', '\u00a0'],
  ...[
    'null',
    'NULL',
    'true',
    'NaN',
    'inf',
    '-0',
    '1e309',
    '0',
    '18446744073709551616',
    '1970-01-01',
    '__proto__',
    'constructor',
  ],
  ...[
    'é',
    'e\u0301',
    'ß',
    'İ',
    'ı',
    'ſ',
    'K',
    'Ω',
    'ﬁ',
    '中文',
    'العربية',
    '\u202e',
    '\u200b',
    '\u200d',
    '\ufeff',
    '\ufffd',
    '\ufffe',
  ],
  ...[
    '\u2028',
    '\u2029',
    '🦊',
    '👩‍👩‍👧‍👦',
    '🇩🇪',
    '\u{10ffff}',
    '\u{1f3fb}',
    '<script>',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: hostile on purpose
    '${1}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: hostile on purpose
    '`${x}`',
    '../..',
    'a',
    'example.com',
  ],
]

/** Half of a character: JSON can contain it and UTF-8 cannot. It comes back as U+FFFD and is counted separately. */
const loneSurrogates = ['\ud800', '\udc00', '\udfff\ud800']

export function hostileString(random: Random): string {
  switch (random.below(20)) {
    case 0: // any characters
      return Array.from({ length: 1 + random.below(40) }, () => String.fromCodePoint(anyCharacter(random))).join('')
    case 1: // printable ASCII, which has all the syntax
      return Array.from({ length: 1 + random.below(60) }, () => String.fromCharCode(32 + random.below(95))).join('')
    case 2:
      return random.oneIn(10) ? random.pick(fragments).repeat(300 + random.below(300)) : random.pick(fragments)
    case 3:
      return random.oneIn(20) ? mixed(random) + random.pick(loneSurrogates) + mixed(random) : mixed(random)
    case 4: // every string of one or two bytes occurs sooner or later
      return String.fromCharCode(random.below(256)) + (random.oneIn(2) ? '' : String.fromCharCode(random.below(256)))
    default:
      return mixed(random)
  }
}

const mixed = (random: Random): string =>
  Array.from({ length: 1 + random.below(8) }, () => random.pick(fragments)).join('')

/** Never half a character. */
function anyCharacter(random: Random): number {
  const code = random.below(random.pick([0x80, 0x800, 0x10000, 0x110000]))
  return code >= 0xd800 && code < 0xe000 ? 0xfffd : code
}
