import { expect } from 'chai'
import { parseHttpDate } from '../../../src/http/delivery/http-date.ts'

const NOVEMBER = Date.UTC(1994, 10, 6, 8, 49, 37)
const two = (year: number) => String(year % 100).padStart(2, '0')
const thisYear = new Date().getUTCFullYear()

describe('HTTP dates', () => {
  for (const [text, at] of [
    // The three examples of RFC 9110 section 5.6.7.
    ['Sun, 06 Nov 1994 08:49:37 GMT', NOVEMBER],
    ['Sunday, 06-Nov-94 08:49:37 GMT', NOVEMBER],
    ['Sun Nov  6 08:49:37 1994', NOVEMBER],
    ['Sat Nov 26 00:00:00 1994', Date.UTC(1994, 10, 26)],
    ['Thu, 29 Feb 2024 23:59:59 GMT', Date.UTC(2024, 1, 29, 23, 59, 59)],
    // A leap second.
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    // Two digits: at most 50 years ahead.
    [`Monday, 01-Jan-${two(thisYear + 50)} 00:00:00 GMT`, Date.UTC(thisYear + 50, 0, 1)],
    [`Monday, 01-Jan-${two(thisYear + 51)} 00:00:00 GMT`, Date.UTC(thisYear - 49, 0, 1)],
    ['Saturday, 01-Jan-00 00:00:00 GMT', Date.UTC(2000, 0, 1)],
  ] as const) {
    it(`reads ${text}`, () => {
      expect(parseHttpDate(text)).to.equal(at)
    })
  }

  it('reads what it writes', () => {
    const date = new Date(Date.UTC(2026, 6, 4, 1, 2, 3))
    expect(parseHttpDate(date.toUTCString())).to.equal(date.getTime())
  })

  for (const text of [
    '',
    'yesterday',
    '0',
    '784111777',
    '1994-11-06',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 30 Feb 2025 00:00:00 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 32 Nov 1994 08:49:37 GMT',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov  6 08:49:37 1994 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT; length=100',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
  ]) {
    it(`ignores ${JSON.stringify(text)}`, () => {
      expect(parseHttpDate(text)).to.equal(undefined)
    })
  }
})
