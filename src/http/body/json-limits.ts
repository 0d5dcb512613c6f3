// Twice the largest valid request: 100 files of an archive, or 100 presets of a client, with 50 parameters each.
const VALUES_MAX = 10_000
const DEPTH_MAX = 32

/** The limits of a JSON body, as text for error messages. */
export const EXPECTED_SIZE = `at most ${VALUES_MAX} values in at most ${DEPTH_MAX} levels`

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACKET_END, BRACE, BRACE_END] = Buffer.from('"\\,[]{}')

/**
 * Whether a JSON text has at most as many values as a request may have. It runs before the parser: parsing 4 MB of
 * `{},` would take a second, scanning the bytes some milliseconds. For invalid JSON, the result has no meaning.
 */
export function isOfFewValues(json: Buffer): boolean {
  let values = 1
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i += 1) {
    const byte = json[i]
    if (inString) {
      if (byte === BACKSLASH) i += 1
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === COMMA) values += 1
    else if (byte === BRACKET || byte === BRACE) {
      values += 1
      depth += 1
      if (depth > DEPTH_MAX) return false
    } else if (byte === BRACKET_END || byte === BRACE_END) depth -= 1
    if (values > VALUES_MAX) return false
  }
  return true
}
