const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)'
const MONTH = `(?<month>${MONTHS.join('|')})`
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
const FORMS = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^${LONG_DAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
  // Sun Nov  6 08:49:37 1994
  new RegExp(`^${DAY} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`),
]

/**
 * Parses an HTTP date, in the current form or one of the two obsolete ones. `Date.parse` also accepts dates that HTTP must
 * ignore (`2030-01-01`), and reads the last form as local time.
 *
 * @returns milliseconds since 1970; undefined for anything else
 * @see RFC 9110 section 5.6.7
 */
export function parseHttpDate(text: string): number | undefined {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find(Boolean)
  if (!parts) return undefined
  const { year = '', month = '', day, hour, minute, second } = parts
  const monthIndex = MONTHS.indexOf(month)
  const date = Date.UTC(fullYear(year), monthIndex, Number(day))
  // A 30th of February would become a day of March.
  if (new Date(date).getUTCMonth() !== monthIndex) return undefined
  return date + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000
}

/** A year of two digits that would be more than 50 years ahead is in the previous century. */
function fullYear(year: string): number {
  if (year.length === 4) return Number(year)
  const now = new Date().getUTCFullYear()
  const inThisCentury = now - (now % 100) + Number(year)
  return inThisCentury > now + 50 ? inThisCentury - 100 : inThisCentury
}
