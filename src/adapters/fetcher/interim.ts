import type { ClientRequest } from 'node:http'
import { remoteFailed } from './refusals.ts'

// Normal is one "100 Continue", or a few "103 Early Hints".
const MAX_RESPONSES = 10

/**
 * Aborts a request whose server sends more than ten interim responses (1xx), or more than `maxBytes` of them. Node emits
 * each of them, until the time limit of the response header: 16 such servers took a whole core.
 */
export function limitInterim(request: ClientRequest, maxBytes: number): void {
  let count = 0
  let bytes = 0
  request.on('information', ({ rawHeaders, statusMessage }) => {
    count += 1
    bytes += [statusMessage, ...rawHeaders].reduce((sum, text) => sum + text.length, 0)
    if (count > MAX_RESPONSES || bytes > maxBytes)
      request.destroy(remoteFailed('sent too many interim responses (1xx)'))
  })
}
