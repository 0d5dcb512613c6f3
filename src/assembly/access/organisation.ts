import type { Config } from '../../../config/load.ts'
import { openIdConnect } from '../../adapters/identity-provider/openid-connect.ts'
import type { IdentityProvider } from '../../core/ports/members/identity-provider.ts'
import type { AppKeys } from '../../core/signing/derive-key.ts'
import {
  createOrganisationSignIn,
  type OrganisationOptions,
  type OrganisationSignIn,
} from '../../service/members/organisation/organisation-sign-in.ts'
import { wantedClaims } from '../../service/members/organisation/people.ts'

/** Opens the sign-in with `OIDC_ISSUER`; undefined when it is unset. */
export function openOrganisation({
  config,
  keys,
  ...options
}: Pick<OrganisationOptions, 'baseUrl' | 'clients' | 'store' | 'sessions' | 'lastSeen' | 'log'> & {
  config: Config
  keys: AppKeys
}): OrganisationSignIn | undefined {
  const provider = identityProvider(config)
  if (!provider) return undefined
  return createOrganisationSignIn({
    ...options,
    provider,
    rules: {
      roleClaim: config.OIDC_ROLE_CLAIM,
      roles: config.OIDC_ROLES ?? [],
      emailDomains: config.OIDC_EMAIL_DOMAINS,
      isUnverifiedAllowed: config.OIDC_UNVERIFIED_EMAIL === 'on',
    },
    label: config.OIDC_LABEL,
    newClients: config.OIDC_CLIENTS,
    key: keys('oidc sign-in'),
  })
}

/** The identity provider of the configuration; undefined without one. */
export function identityProvider(config: Config): IdentityProvider | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config
  if (issuer === undefined || clientId === undefined) return undefined
  return openIdConnect({
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    scopes: config.OIDC_SCOPES,
    wantedClaims: wantedClaims({ roleClaim: config.OIDC_ROLE_CLAIM }),
    signsOut: config.OIDC_SIGN_OUT === 'on',
  })
}
