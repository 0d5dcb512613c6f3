/** Work of an index on its own data, next to that of requests. */
export interface IndexUpkeep {
  /**
   * Notes that the index has the layout of this version, before its first step.
   * @throws Error when a newer version has stored the index, whose layout is unknown, and a Problem 503 when the index is unavailable
   */
  claimLayout(): Promise<void>
  /**
   * Converts lists and the search of an older version, from the index alone: it does not find files that the index does not
   * have. Takes one short call when there is nothing to convert. Does nothing for a client that another process converts. May be
   * aborted, and called again. Claims the layout first.
   *
   * @param clientIds the clients for which there may be such data, in addition to those for which `canSearch` has found some: all
   *   clients, when the process starts
   * @throws Problem 503 when the index is unavailable, and the reason of the signal. A failure does not hide the other clients
   */
  upgrade(signal: AbortSignal, clientIds: readonly string[]): Promise<void>
  /**
   * Frees memory that is not used any more, some of it per call. Each sweep calls it. Returns early when it is aborted.
   * @param options.most the number of steps at most, each of which takes about 0.2 ms of the index. Work that cannot be divided may take
   *   more
   * @returns the number of steps
   * @throws Problem 503 when a part of the index is unavailable, after all others
   */
  tidy(options: { signal?: AbortSignal | undefined; most: number }): Promise<number>
}
