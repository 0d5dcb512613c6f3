import type { RedisOptions } from 'ioredis'
import type { RedisNode } from '../../core/net/redis-url.ts'
import type { ClusterView } from './cluster-view.ts'
import { isPrimary, RedisConnector } from './connector.ts'

/** The slot of all keys of a connection to a Redis Cluster. */
export interface ClusterSlot {
  cluster: ClusterView
  slot: number
}

/**
 * Connects to the primary that has a slot of a Redis Cluster. So a connection serves the keys of one hash tag, and behaves as
 * that of a single Redis. ioredis has a client for all slots, but it resends commands whose outcome is unknown, has no time limit
 * for its questions, and takes no subscription for one node.
 *
 * @see https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */
export class ClusterRedisConnector extends RedisConnector {
  /** A node that was the primary may be a replica now, and its address may be that of a Redis outside the cluster. */
  override check({ role, redis_mode: mode }: { role?: string; redis_mode?: string }): boolean {
    return isPrimary(role) && (mode === undefined || mode === 'cluster')
  }

  protected override node(options: RedisOptions): Promise<RedisNode> {
    const { cluster, slot } = (options as RedisOptions & { clusterSlot: ClusterSlot }).clusterSlot
    return cluster.primaryOf(slot)
  }
}
