import { setTimeout as pause } from 'node:timers/promises'
import type { RedisNode } from '../../core/net/redis-url.ts'
import { createQueries, type QueryOptions } from './queries.ts'

/** The slots of a Redis Cluster and their primaries, as its nodes state them. There are 16,384 slots. */
export interface ClusterView {
  /** The primary of a slot. @throws Error when no node responds, or the slot has no primary */
  primaryOf(slot: number): Promise<RedisNode>
}

/** Slots of one primary, both inclusive. */
interface SlotRange {
  first: number
  last: number
  primary: RedisNode
  replicas: readonly RedisNode[]
}

// Many connections begin at the same time, and need one answer.
const FRESH_MS = 100
// After the first answer, the others have this time: a node that is cut off may name former primaries.
const OTHERS_MS = 200

/** @param nodes some nodes of the cluster; later, the nodes that these have named are queried too */
export function clusterView(nodes: readonly RedisNode[], options: QueryOptions): ClusterView {
  let known = nodes
  let current: { isFresh(): boolean; ranges: Promise<readonly SlotRange[]> } | undefined

  async function query(): Promise<readonly SlotRange[]> {
    const queries = createQueries(options)
    try {
      const answers: Answer[] = []
      const asked = known.map(async (node) => {
        const answer = await queries.query(node, async (client) => {
          const [info, slots] = await Promise.all([client.cluster('INFO'), client.cluster('SLOTS')])
          return { epoch: epochIn(String(info)), ranges: rangesIn(slots, node) }
        })
        answers.push(answer)
      })
      await Promise.any(asked).catch(({ errors }: AggregateError) => {
        throw new Error(`no node of the cluster responds: ${errors.map(({ message }) => message).join('; ')}`)
      })
      await Promise.race([Promise.allSettled(asked), pause(OTHERS_MS)])
      const { ranges } = answers.reduce((newest, one) => (one.epoch > newest.epoch ? one : newest))
      known = unique([...ranges.flatMap(({ primary, replicas }) => [primary, ...replicas]), ...nodes])
      return ranges
    } finally {
      queries.cancel()
    }
  }

  /** All slots that have a primary. Callers at the same time share one query, also its failure. */
  function slotRanges(): Promise<readonly SlotRange[]> {
    if (current?.isFresh()) return current.ranges
    let endedAt: number | undefined
    const ranges = query().finally(() => {
      endedAt = performance.now()
    })
    current = { ranges, isFresh: () => endedAt === undefined || performance.now() - endedAt < FRESH_MS }
    return ranges
  }

  return {
    async primaryOf(slot) {
      const range = (await slotRanges()).find(({ first, last }) => first <= slot && slot <= last)
      if (!range) throw new Error(`no node of the cluster has slot ${slot}`)
      return range.primary
    },
  }
}

interface Answer {
  /** Increases with each failover and each change of slots. */
  epoch: number
  ranges: readonly SlotRange[]
}

function epochIn(info: string): number {
  return Number(/^cluster_current_epoch:(\d+)/m.exec(info)?.[1] ?? 0)
}

/**
 * Parses the response to CLUSTER SLOTS.
 *
 * @param asked the node that has responded: it is meant where a node has no name
 * @throws TypeError for any other response
 * @see https://redis.io/docs/latest/commands/cluster-slots/
 */
function rangesIn(response: unknown, asked: RedisNode): SlotRange[] {
  const nodeIn = (item: unknown): RedisNode => {
    const [host, port] = item as [host: string | null, port: number]
    return { host: host || asked.host, port }
  }
  return (response as unknown[][]).map(([first, last, primary, ...replicas]) => ({
    first: Number(first),
    last: Number(last),
    primary: nodeIn(primary),
    replicas: replicas.map(nodeIn),
  }))
}

function unique(nodes: readonly RedisNode[]): RedisNode[] {
  return [...new Map(nodes.map((node) => [`${node.host} ${node.port}`, node])).values()]
}
