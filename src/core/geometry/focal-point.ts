import { badParameter } from '../problem.ts'
import type { Point } from './box.ts'

// A ten-thousandth of a side is half a pixel of the largest output. More digits would only add derivatives.
const STEPS = 10_000

/** `focalPoint` as a JSON schema. {@link checkFocalPoint} validates it. */
export const FOCAL_POINT_JSON = {
  type: 'object',
  properties: {
    x: { type: 'number', minimum: 0, maximum: 1, description: '0: the left edge. 1: the right edge.' },
    y: { type: 'number', minimum: 0, maximum: 1, description: '0: the top edge. 1: the bottom edge.' },
  },
  required: ['x', 'y'],
  additionalProperties: false,
  description: 'The point of the upright image that crops are centred on by default.',
}

/**
 * Validates a focal point: fractions of the sides of the upright image, 0 to 1, both inclusive. Rounds them to four
 * digits.
 *
 * @throws Problem 400
 */
export function checkFocalPoint(received: unknown): Point {
  const param = 'focalPoint'
  if (typeof received !== 'object' || received === null || Array.isArray(received))
    throw badParameter({ param, expected: 'an object of x and y', received })
  const { x, y, ...others } = received as Partial<Record<string, unknown>>
  const [other] = Object.keys(others)
  if (other !== undefined) throw badParameter({ param, expected: 'only x and y', received: other })
  return { x: checkedFraction(`${param}.x`, x), y: checkedFraction(`${param}.y`, y) }
}

function checkedFraction(param: string, received: unknown): number {
  if (typeof received === 'number' && received >= 0 && received <= 1)
    return Math.round(received * STEPS) / STEPS
  throw badParameter({ param, expected: 'a number from 0 to 1', received })
}
