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
