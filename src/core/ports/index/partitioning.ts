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

export interface MoveOptions {
  signal: AbortSignal
  /** @param moved files so far. It is awaited */
  progress(moved: number): Promise<void>
}

/** Divides the files of a client among other partitions of the index, while the index is used. */
export interface Partitioning {
  of(clientId: string): Promise<ClientPartitions>
  /**
   * Moves the files of a client. After an abort by a crash or by the signal, another call continues; in the meantime the index works.
   * Only one call per client may run at a time.
   * @throws Error while a move to another number is not complete, Problem 503 when a partition is unavailable, `signal.reason`
   */
  move(clientId: string, to: PartitionCount, options: MoveOptions): Promise<MovedPartitions>
}
