import { setTimeout as pause } from 'node:timers/promises'
import type { RedisNode } from '../../core/net/redis-url.ts'
import { createQueries, type QueryOptions } from './queries.ts'

/** The slots of a Redis Cluster and their primaries, as its nodes state them. There are 16,384 slots. */
export interface ClusterView {
  /** The primary of a slot. @throws Error when no node responds, or the slot has no primary */
  primaryOf(slot: number): Promise<RedisNode>
  /** Called when a node has named another primary of a slot: the next question is sent to the nodes. */
  forget(): void
}

/** Slots of one primary, both inclusive. */
interface SlotRange {
  first: number
  last: number
  primary: RedisNode
  replicas: readonly RedisNode[]
}

// Many connections lose their node at the same time, and need one answer.
const FRESH_MS = 500
const SLOTS = 16_384
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
          return { node, epoch: epochIn(String(info)), ranges: rangesIn(slots, node) }
        })
        answers.push(answer)
      })
      await Promise.any(asked).catch(({ errors }: AggregateError) => {
        const reasons = errors.map(({ message }) => message).join('; ')
        throw new Error(`no node of the cluster responds: ${reasons}`, { cause: errors[0] })
      })
      await Promise.race([Promise.allSettled(asked), pause(OTHERS_MS)])
      const { node, ranges } = answers.reduce((best, one) => (isNewer(one, best) ? one : best))
      const named = ranges.flatMap(({ primary, replicas }) => [primary, ...replicas])
      // A node that was emptied names no others.
      known = unique([...named, node, ...(served(ranges) === SLOTS ? [] : known), ...nodes])
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
    forget() {
      current = undefined
    },
  }
}

interface Answer {
  node: RedisNode
  /** Increases with each failover and each change of slots. */
  epoch: number
  ranges: readonly SlotRange[]
}

/** A node without slots knows nothing, whatever its epoch. */
function isNewer(one: Answer, other: Answer): boolean {
  if ((one.ranges.length === 0) !== (other.ranges.length === 0)) return one.ranges.length > 0
  return one.epoch > other.epoch
}

function served(ranges: readonly SlotRange[]): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
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
    const [host, port, , more = []] = item as [string | null, number, string, string[]?]
    // A node whose host name is not known yet has its IP address among its further names.
    const known = host === '?' ? more[more.indexOf('ip') + 1] : host
    return { host: known || asked.host, port }
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
