import { Problem } from '../../../src/core/problem.ts'

/** Problem 501: an image with other content than requested would be worse than no image. @param parameters by name */
export function noDetector(parameters: string): Problem {
  return new Problem({
    status: 501,
    code: 'not_installed',
    detail: `${parameters} need a plugin that detects faces. This server has disabled that of Sluice.`,
  })
}
