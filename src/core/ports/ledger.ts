/**
 * Small texts by name that several processes change, one at a time: who has read one puts another in its place, unless
 * somebody else was faster. Each is durable when its change resolves, and is forgotten by itself.
 */
export interface Ledger {
  /** @throws Problem 503 */
  find(name: string): Promise<string | undefined>
  /**
   * @param before what is there, as it was read; undefined for nothing
   * @param after what is to be there; undefined for nothing
   * @param options `forgetAt`: milliseconds since 1970, from when on it may be gone
   * @returns false, and changes nothing, when there is something else by now
   * @throws Problem 503; it may have been changed all the same
   */
  replace(
    name: string,
    before: string | undefined,
    after: string | undefined,
    options: { forgetAt: number },
  ): Promise<boolean>
}
