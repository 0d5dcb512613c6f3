/** What an index does at times for itself. */
export interface IndexUpkeep {
  /**
   * Converts what an older version has stored, from the index alone: it does not find what the index does not have. Call it when
   * `canSearch` is false. It may be aborted, and called again.
   * @throws Problem 503 when the index is unavailable, and the reason of the signal
   */
  upgrade(signal: AbortSignal): Promise<void>
  /** Frees memory that is not used any more, some of it per call. Each sweep calls it. @throws Problem 503 when the index is unavailable */
  tidy(): Promise<void>
}
