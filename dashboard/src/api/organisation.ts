import { serviceUrl } from './base.ts'

/** The text of the button for the sign-in with the organisation, which the page states; undefined when there is none. */
export const organisationLabel: string | undefined =
  document.querySelector<HTMLMetaElement>('meta[name="sluice-organisation"]')?.content || undefined

/** The URL that begins this sign-in. @param from the page to show afterwards, below the path of the console */
export function organisationUrl(from?: string): string {
  return `${serviceUrl}/v1/session/oidc${from === undefined ? '' : `?${new URLSearchParams({ from })}`}`
}

/** The URL that also signs out of the organisation. */
export const organisationSignOutUrl = `${serviceUrl}/v1/session/oidc/sign-out`
