/** Among how many partitions the files of a client are divided: one, or all of them. */
export type PartitionCount = 1 | 64

/** How the files of a client are divided. */
export interface ClientPartitions {
  partitions: number
  /** The number of partitions that a move in progress, or an interrupted one, leads to. */
  movingTo?: number
}

/** The result of a move. */
export interface MovedPartitions {
  partitions: PartitionCount
  /** False when the client had this number already. */
  isChanged: boolean
  /** The number of files that this call has moved. Others were moved by an interrupted call, or by requests. */
  files: number
}

/**
 * What a move does. `preparing`: it reads all files of the client, to remove old copies. `ending`: all files have moved, and it waits for
 * {@link MoveOptions.mayEnd}.
 */
export interface MoveProgress {
  phase: 'preparing' | 'moving' | 'ending'
  /** The files that this phase has read or moved so far; 0 when it is the last one. */
  files: number
}

export interface MoveOptions {
  signal: AbortSignal
  /** It is awaited. */
  progress(now: MoveProgress): Promise<void>
  /** Whether the move may end. It is asked repeatedly when all files have moved. */
  mayEnd(): Promise<boolean>
}

/** Divides the files of a client among other partitions of the index, while the index is used. */
export interface Partitioning {
  of(clientId: string): Promise<ClientPartitions>
  /** The number of clients whose files move now, or whose move was interrupted. @throws Problem 503 */
  moves(): Promise<number>
  /**
   * Moves the files of a client. After an abort by a crash or by the signal, another call continues; in the meantime the index works.
   * It waits two minutes for a partition that is unavailable, from the first failure on. Only one call per client should run at a time.
   * @throws Error while a move to another number is not complete, Problem 503 when a partition is unavailable, `signal.reason`
   */
  move(clientId: string, to: PartitionCount, options: MoveOptions): Promise<MovedPartitions>
  /** Ends an interrupted move of a client that has no files, and removes what it has left behind. @throws Problem 503 */
  end(clientId: string): Promise<void>
}
