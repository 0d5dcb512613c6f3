import type { Client } from '../../core/clients/client.ts'
import type { ListedState } from '../../core/ports/index/listed-state.ts'
import type { ListOrder } from '../../core/ports/index/page-request.ts'
import type { Filters } from './filters.ts'

/** The position of a {@link ListRequest} is none of the index: an older version or another store has returned it. */
export class InvalidPosition extends Error {}

/** The filters, the order and the position of a list. */
export interface ListRequest extends Filters {
  client: Client
  state: ListedState
  by: Exclude<ListOrder, 'sha256'>
  direction: 'up' | 'down'
  /** The position after which the list continues, see `ListPart` of `list.ts`. */
  after?: string | undefined
  /** Maximum number of files, at least 1. */
  limit: number
  signal: AbortSignal
}
