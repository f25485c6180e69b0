import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countryNames, isCountryCode } from '../../src/traffic/country.ts'

// The 249 assigned codes of ISO 3166-1 alpha-2.
const assigned = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD
  CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF
  GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
  KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
  NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
  SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
  VN VU WF WS YE YT ZA ZM ZW`
  .trim()
  .split(/\s+/)

test('the table contains the 249 assigned codes, Kosovo and, last, unknown', () => {
  assert.equal(assigned.length, 249)
  assert.deepEqual(Object.keys(countryNames), [...[...assigned, 'XK'].sort(), 'ZZ'])
  assert.equal(countryNames.ZZ, 'Unknown')
})

test('every country has a unique name', () => {
  const names = Object.values(countryNames)
  assert.equal(new Set(names).size, names.length)
  for (const name of names) assert.match(name, /^[\p{Lu}][\p{L}\p{M} ,()’'-]+$/u, name)
  assert.ok(names.every((name) => name === name.normalize('NFC') && name === name.trim()))
})

test('names are written in full: no abbreviation, no ampersand', () => {
  for (const name of Object.values(countryNames)) assert.doesNotMatch(name, /[.&]|\b\p{Lu}{2,}\b|\bSt\b/u, name)
  assert.deepEqual(
    [countryNames.CD, countryNames.CG, countryNames.LC, countryNames.VI, countryNames.TT],
    [
      'Democratic Republic of the Congo',
      'Republic of the Congo',
      'Saint Lucia',
      'United States Virgin Islands',
      'Trinidad and Tobago',
    ],
  )
})

test('names sort the same by UTF-16 unit, as geo sorts them, and by code point, as D-25 says', () => {
  const names = Object.values(countryNames)
  const byBytes = [...names].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  assert.deepEqual([...names].sort(), byBytes)
})

test('only a code of the table is valid', () => {
  for (const code of ['UK', 'EU', 'AA', 'XX', 'de', 'D', 'DEU', '', 'constructor', '__proto__', 'toString']) {
    assert.equal(isCountryCode(code), false, code)
  }
  for (const code of ['DE', 'XK', 'ZZ']) assert.equal(isCountryCode(code), true, code)
})
