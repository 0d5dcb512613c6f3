import { z } from 'zod'
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../core/ports/events/delivery-log.ts'
import { badParameter } from '../../core/problem.ts'
import { listed } from '../../core/text/listed.ts'
import { checkNames, onlyValue, pageLimit, type QueryPairs } from '../request.ts'

const NAMES = ['status', 'since', 'limit', 'cursor']
const A_TIME = 'a time like 2026-11-30T12:00:00Z'
const A_STATUS = `one of ${listed(DELIVERY_STATUSES)}`

/** The body of a replay of several deliveries. */
export const webhookReplay = z.strictObject(
  {
    since: z.iso
      .datetime({ offset: true, error: A_TIME })
      .describe('Only deliveries of events that happened at this time or later, in ISO 8601.'),
    status: z.enum(DELIVERY_STATUSES, A_STATUS).describe('Default: `failed`.').optional(),
  },
  'an object of since and status',
)

/** The validated query of a list of deliveries. `before` is a position. */
export interface DeliveriesQuery {
  status: DeliveryStatus | undefined
  /** In milliseconds since 1970. */
  since: number | undefined
  limit: number
  before: string | undefined
}

/** Parses the query of a list of deliveries. @throws Problem 400 */
export function readDeliveriesQuery(query: QueryPairs): DeliveriesQuery {
  checkNames(query, NAMES)
  const value = (name: string) => onlyValue(query, name)
  return {
    status: statusOf(value('status')),
    since: timeOf(value('since')),
    limit: pageLimit(query),
    before: positionIn(value('cursor')),
  }
}

/** A cursor contains only the time and the id of a delivery that the caller has received. */
export function cursorAt(position: string): string {
  return Buffer.from(position).toString('base64url')
}

function positionIn(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  const position = Buffer.from(cursor, 'base64url').toString()
  if (/^\d{15}:[\w-]{1,100}$/.test(position)) return position
  throw badParameter({ param: 'cursor', expected: 'a cursor of an earlier response', received: cursor })
}

function statusOf(received: string | undefined): DeliveryStatus | undefined {
  const status = DELIVERY_STATUSES.find((one) => one === received)
  if (status !== undefined || received === undefined) return status
  throw badParameter({ param: 'status', expected: A_STATUS, received })
}

function timeOf(received: string | undefined): number | undefined {
  if (received === undefined) return undefined
  const { success, data } = z.iso.datetime({ offset: true }).safeParse(received)
  if (success) return Date.parse(data)
  throw badParameter({ param: 'since', expected: A_TIME, received })
}
