/** Work of an index on its own data, next to that of requests. */
export interface IndexUpkeep {
  /**
   * Removes the index that an older version has stored in another form. Takes one short call when there is none. May be aborted, and
   * called again.
   *
   * @throws Problem 503 when the index is unavailable, Error when a newer version has stored it, and the reason of the signal
   */
  removeFormer(signal: AbortSignal): Promise<void>
  /**
   * Frees memory that is not used any more, some of it per call. Each sweep calls it. Returns early when it is aborted.
   * @param options.most the number of steps at most, each of which takes about 0.2 ms of the index. Work that cannot be divided may take
   *   more
   * @returns the number of steps
   * @throws Problem 503 when a part of the index is unavailable, after all others
   */
  tidy(options: { signal?: AbortSignal | undefined; most: number }): Promise<number>
}
