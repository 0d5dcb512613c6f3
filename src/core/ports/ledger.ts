/**
 * Small texts by name, changed by compare-and-set across processes. A change is durable when it resolves. Texts expire.
 */
export interface Ledger {
  /** @throws Problem 503 */
  find(name: string): Promise<string | undefined>
  /**
   * Replaces a text, unless it has changed.
   * @param before the text as it was read; undefined for none
   * @param after the new text; undefined to remove it
   * @param options `forgetAt`: when the text expires, in milliseconds since 1970
   * @returns false, and changes nothing, when the current text is not `before`
   * @throws Problem 503; the text may have changed nevertheless
   */
  replace(
    name: string,
    before: string | undefined,
    after: string | undefined,
    options: { forgetAt: number },
  ): Promise<boolean>
}

/** A text of a ledger. */
export interface LedgerEntry {
  name: string
  text: string
  /** When it expires, in milliseconds since 1970. */
  forgetAt: number
}

/**
 * Replaces a text of the ledger by compare-and-set: when another process has changed it in between, it reads the new text and
 * tries again. Writes nothing when the text stays the same.
 *
 * @param options.make returns the new text for the present one (undefined: no text), and is called again after a conflict.
 *   When it throws, nothing is written
 * @param options.forgetAt when the ledger may delete the text, in milliseconds since 1970
 * @returns the `result` of the call of `make` whose text was written
 * @throws Problem 503
 */
export async function changeInLedger<T>(
  ledger: Ledger,
  name: string,
  {
    make,
    forgetAt,
  }: {
    make: (before: string | undefined) => Promise<{ after: string | undefined; result: T }>
    forgetAt: number
  },
): Promise<T> {
  for (;;) {
    const before = await ledger.find(name)
    const { after, result } = await make(before)
    if (after === before || (await ledger.replace(name, before, after, { forgetAt }))) return result
  }
}
