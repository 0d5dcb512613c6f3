import { z } from 'zod'
import { EVENT_NAMES, type EventName } from '../../core/events.ts'
import {
  DELIVERY_STATUSES,
  type DeliveryFilter,
  type DeliveryStatus,
} from '../../core/ports/events/delivery-log.ts'
import { badParameter } from '../../core/problem.ts'
import { listed } from '../../core/text/listed.ts'
import { checkNames, onlyValue, pageLimit, type QueryPairs } from '../request.ts'

const NAMES = ['status', 'event', 'receiver', 'client', 'since', 'limit', 'cursor']
const A_TIME = 'a time like 2026-11-30T12:00:00Z'
const A_STATUS = `one of ${listed(DELIVERY_STATUSES)}`
const AN_EVENT = `one of ${listed(EVENT_NAMES)}`
const A_RECEIVER = 'the ID of a receiver: 16 hexadecimal digits'
const RECEIVER_ID = /^[\da-f]{16}$/

/** The body of a replay of several deliveries. */
export const webhookReplay = z.strictObject(
  {
    since: z.iso
      .datetime({ offset: true, error: A_TIME })
      .describe('Only deliveries of events that happened at this time or later, in ISO 8601.'),
    status: z.enum(DELIVERY_STATUSES, A_STATUS).describe('Default: `failed`.').optional(),
    event: z
      .enum(EVENT_NAMES as [EventName, ...EventName[]], AN_EVENT)
      .describe('Only events of this type.')
      .optional(),
    receiver: z
      .string(A_RECEIVER)
      .regex(RECEIVER_ID, A_RECEIVER)
      .describe('Only deliveries to the receiver with this ID.')
      .optional(),
    client: z
      .string('the ID of a client')
      .describe('Only events of the client with this ID. For the operator.')
      .optional(),
  },
  'an object of since, status, event, receiver and client',
)

/** The validated query of a list of deliveries. `before` is a position. */
export interface DeliveriesQuery {
  status: DeliveryStatus | undefined
  event: EventName | undefined
  receiverId: string | undefined
  /** As the caller has sent it: see {@link checkedClient}. */
  client: string | undefined
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
    event: eventOf(value('event')),
    receiverId: receiverOf(value('receiver')),
    client: value('client'),
    since: timeOf(value('since')),
    limit: pageLimit(query),
    before: positionIn(value('cursor')),
  }
}

/**
 * The client whose deliveries are selected.
 *
 * @param own the client of the caller; undefined for the operator, who may select any
 * @throws Problem 400 when a client selects itself or another one
 */
export function checkedClient(own: string | undefined, received: string | undefined): DeliveryFilter {
  if (own === undefined) return { clientId: received }
  if (received === undefined) return { clientId: own }
  throw badParameter({ param: 'client', expected: 'no value, except from the operator', received })
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

function eventOf(received: string | undefined): EventName | undefined {
  const event = EVENT_NAMES.find((one) => one === received)
  if (event !== undefined || received === undefined) return event
  throw badParameter({ param: 'event', expected: AN_EVENT, received })
}

function receiverOf(received: string | undefined): string | undefined {
  if (received === undefined || RECEIVER_ID.test(received)) return received
  throw badParameter({ param: 'receiver', expected: A_RECEIVER, received })
}

function timeOf(received: string | undefined): number | undefined {
  if (received === undefined) return undefined
  const { success, data } = z.iso.datetime({ offset: true }).safeParse(received)
  if (success) return Date.parse(data)
  throw badParameter({ param: 'since', expected: A_TIME, received })
}
