import type { Config } from '../../../config/load.ts'
import type { Finding } from '../../core/checkup.ts'

const ANSWER_MS = 5000

/** Requests `/healthz` at the public URL. It may fail before the first start. */
export async function checkAddress({
  BASE_URL,
  PORT,
}: Pick<Config, 'BASE_URL' | 'PORT'>): Promise<Finding[]> {
  if (BASE_URL === undefined)
    return [
      {
        state: 'warning',
        found: `BASE_URL is unset, so URLs of files begin with http://localhost:${PORT}`,
        advice: 'Set BASE_URL to the address that clients use.',
      },
    ]
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const response = await fetch(`${BASE_URL}/healthz`, { redirect: 'manual', signal })
    const isOurs = response.status === 200 && (await response.text()) === '{"status":"ok"}'
    if (isOurs) return [{ state: 'ok', found: `${BASE_URL} responds` }]
    return [
      {
        state: 'warning',
        found: `${BASE_URL}/healthz returns ${response.status}, and not from Sluice`,
        advice: 'Correct BASE_URL, or the proxy in front of Sluice.',
      },
    ]
  } catch (error) {
    const { message, cause } = error as Error
    return [
      {
        state: 'warning',
        found: `${BASE_URL} cannot be reached from here: ${cause instanceof Error ? cause.message : message}`,
        advice:
          'Start the service, or check BASE_URL, DNS and the proxy. Ignore this if only this machine cannot reach it.',
      },
    ]
  }
}
