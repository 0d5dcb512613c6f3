import type { ClientPartitions, MovedPartitions } from '../ports/index/partitioning.ts'
import type { ShownClient } from './shown-client.ts'

/** A client as `client show` and `client list` return it, with its partitions when the index has any. */
export type PartitionedClient = ShownClient & Partial<ClientPartitions>

/** The result of `client partition`, with the time that it took. */
export interface PartitionReport extends MovedPartitions {
  id: string
  seconds: number
}
