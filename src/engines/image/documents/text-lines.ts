// A page has room for these. More characters of a line are clipped.
const LINES = 58
const COLUMNS = 80
const TAB_STOP = 4
// A line of combining characters has no width: they are counted, too.
const MAX_CHARACTERS = 4 * COLUMNS
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/

// Control characters except the tab; marks that change the direction of all that follows; and code points that are no characters.
const NOT_DRAWN =
  /(?!\t)[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}])/u

/** The number of lines of a text. A line break at the end begins no further line. */
export function lineCount(text: string): number {
  const breaks = text.match(new RegExp(LINE_BREAK, 'g')) ?? []
  return breaks.length + (text === '' || /[\n\r\u2028\u2029]$/.test(text) ? 0 : 1)
}

/** The lines of a text that fit on a page, of characters that can be drawn, and with spaces instead of tabs. */
export function linesOnPage(text: string): string[] {
  return text
    .split(LINE_BREAK, LINES)
    .map((line) => clipped(line.slice(0, MAX_CHARACTERS).replace(NOT_DRAWN, '\ufffd')))
}

function clipped(line: string): string {
  let shown = ''
  let columns = 0
  for (const character of line) {
    const width = character === '\t' ? TAB_STOP - (columns % TAB_STOP) : WIDE.test(character) ? 2 : 1
    if (columns + width > COLUMNS) break
    shown += character === '\t' ? ' '.repeat(width) : character
    columns += width
  }
  return shown
}
