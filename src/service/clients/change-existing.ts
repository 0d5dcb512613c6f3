import type { Client } from '../../core/clients/client.ts'
import { withdrawnFolders } from '../../core/clients/signed-delivery.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import { Problem } from '../../core/problem.ts'

/**
 * Changes an existing client that is not being removed, and emits `client.changed`.
 * @throws the errors of `make`; Problem 404, 409, 503
 */
export type ChangeKnown = (id: string, make: (client: Client) => Client | Promise<Client>) => Promise<Client>

export function createChangeKnown({ store, events }: { store: ClientStore; events: EventBus }): ChangeKnown {
  return async (id, make) => {
    await store.refresh()
    if (!store.find(id)) throw noSuchClient(id)
    let before: Client | undefined
    const client = await store.change(id, (present) => {
      if (!present) throw noSuchClient(id)
      if (present.removing) throw clientConflict(`${id} is being removed`)
      before = present
      return make(present)
    })
    emitChanged(events, { before, after: client })
    return client
  }
}

/** Emits `client.changed`. @param clients before and after the change; `before` is undefined for a new client */
export function emitChanged(
  events: EventBus,
  { before, after }: { before: Client | undefined; after: Client },
): void {
  const withdrawn = before ? withdrawnFolders(before, after) : []
  events.emit('client.changed', { clientId: after.id, ...(withdrawn.length > 0 ? { withdrawn } : {}) })
}

/** 404: no client has this ID. For the operator only. */
export function noSuchClient(id: string): Problem {
  return new Problem({
    status: 404,
    code: 'client_not_found',
    detail: `No client has the id ${JSON.stringify(id)}.`,
  })
}

/** 409: the current state of the client excludes the change. */
export function clientConflict(detail: string): Problem {
  return new Problem({ status: 409, code: 'client_conflict', detail })
}
