import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { refreshLists } from '../../api/lists.ts'
import { useSession } from '../../api/session.ts'
import type { UploadItem } from './queue/item.ts'
import { createQueue, type UploadQueue } from './queue/queue.ts'

// A folder of thousands of files must not load the lists for each of them.
const REFRESH_MS = 1500

let current: { memberId: string; queue: UploadQueue } | undefined

let closing: ReturnType<typeof setTimeout> | undefined

/** After a sign-out. What is unfinished continues when the member is back. */
function closeQueue(): void {
  current?.queue.close()
  current = undefined
}

/** The queue of this page. Another member gets another one: the uploads of the previous one stop. */
function queueOf(memberId: string, clientIds: readonly string[]): UploadQueue {
  if (current?.memberId === memberId) return current.queue
  closeQueue()
  current = { memberId, queue: createQueue(memberId, clientIds) }
  return current.queue
}

/** The queue of the member, and its items. */
export function useQueue(): { queue: UploadQueue; items: readonly UploadItem[] } {
  const { member, clients } = useSession()
  const [queue, setQueue] = useState<UploadQueue>(() =>
    queueOf(
      member.id,
      clients.map(({ id }) => id),
    ),
  )
  const memberId = member.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another member gets another queue
  useEffect(() => {
    const own = queueOf(
      memberId,
      clients.map(({ id }) => id),
    )
    setQueue(own)
    clearTimeout(closing)
    return () => {
      // Development mode ends each effect once, and starts it again.
      closing = setTimeout(closeQueue)
    }
  }, [memberId])
  const items = useSyncExternalStore(queue.subscribe, queue.getItems)
  return { queue, items }
}

/** Loads the lists of the other pages again as files are stored. */
export function useRefreshedLists(queue: UploadQueue): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    const changed = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const refresh = () => {
      timer = undefined
      for (const clientId of changed) void refreshLists(queryClient, clientId)
      changed.clear()
    }
    const end = queue.onStored(({ clientId }) => {
      // The first file appears at once.
      if (timer === undefined && changed.size === 0) void refreshLists(queryClient, clientId)
      changed.add(clientId)
      timer ??= setTimeout(refresh, REFRESH_MS)
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [queue, queryClient])
}
