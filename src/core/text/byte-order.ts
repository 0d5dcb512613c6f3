/**
 * Compares two texts by their bytes in UTF-8, as S3, LevelDB and Redis sort keys. JavaScript sorts characters beyond U+FFFF
 * differently.
 *
 * @returns a negative number when `one` is first, 0 for equal texts
 */
export function byBytes(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1
  if (at === length) return one.length - other.length
  return rank(one.charCodeAt(at)) - rank(other.charCodeAt(at))
}

/** A half of a character beyond U+FFFF comes after all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
