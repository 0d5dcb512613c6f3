/** Times in milliseconds. */
export interface MoveTimes {
  /** For how long a process trusts the division of a client. A node that was emptied has lost those of its clients. */
  trustMs: number
  /** After this time, a node does not lose a change any more when it fails, if its persistence settings are the recommended ones. */
  durableMs: number
  /** For how long a move waits for nodes that are unavailable. */
  patienceMs: number
  /** Between two attempts, and between two questions whether a move may end. */
  retryMs: number
}

export const MOVE_TIMES: MoveTimes = { trustMs: 1000, durableMs: 2000, patienceMs: 120_000, retryMs: 500 }
