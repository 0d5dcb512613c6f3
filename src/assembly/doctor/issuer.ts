import type { Config } from '../../../config/load.ts'
import type { Finding } from '../../core/checkup.ts'
import { identityProvider } from '../access/organisation.ts'

/** Reads the discovery document of `OIDC_ISSUER`. The service starts without it: passwords work all the same. */
export async function checkIssuer(config: Config): Promise<Finding[]> {
  const issuer = String(config.OIDC_ISSUER)
  const redirect = `${config.BASE_URL ?? `http://localhost:${config.PORT}`}/v1/session/oidc/callback`
  try {
    await identityProvider(config)?.begin(redirect)
    const found = `${issuer} responds; it must accept the redirect URI ${redirect}`
    return [{ state: 'ok', found }, ...addressAdvice(config)]
  } catch (error) {
    return [
      {
        state: 'warning',
        found: `${issuer} cannot be used: ${error instanceof Error ? error.message : error}`,
        advice:
          'Check OIDC_ISSUER: <OIDC_ISSUER>/.well-known/openid-configuration must respond with the same issuer, without a redirect.',
      },
    ]
  }
}

function addressAdvice({ BASE_URL }: Pick<Config, 'BASE_URL'>): Finding[] {
  if (BASE_URL !== undefined) return []
  const advice = 'Set BASE_URL to the address at which people open the console.'
  return [{ state: 'warning', found: 'BASE_URL is unset, so the issuer sends people to localhost', advice }]
}
