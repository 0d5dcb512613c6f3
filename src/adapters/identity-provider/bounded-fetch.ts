/** The network failed, or a response took too long or was too large. */
export class UnreachableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnreachableError'
  }
}

/**
 * `fetch` with bounds for the whole response. Redirects are returned and not followed: only the URLs that the provider states are
 * requested.
 *
 * @throws UnreachableError
 */
export function boundedFetch({ timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number }) {
  return async (url: string, options: RequestInit): Promise<Response> => {
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const response = await fetch(url, { ...options, redirect: 'manual', signal })
      const bytes = await readAtMost(response, maxBytes)
      const { status, headers } = response
      if (status >= 500) throw new Error(`the response has the status ${status}`)
      return new Response(bytes.length > 0 ? bytes : null, { status, headers })
    } catch (cause) {
      const { message } = (
        cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
      ) as Error
      throw new UnreachableError(`${new URL(url).origin}: ${message}`, { cause })
    }
  }
}

async function readAtMost({ body }: Response, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  // Leaving the loop by the error cancels the body.
  for await (const part of body ?? []) {
    size += part.length
    if (size > maxBytes) throw new Error(`the response has more than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
