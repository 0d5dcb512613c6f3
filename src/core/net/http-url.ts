/** Whether the text is an http or https URL without user name and password. */
export function isEndpoint(text: string): boolean {
  return httpUrl(text) !== undefined
}

/** Parses an http or https URL without user name, password, query and fragment; undefined for any other text. */
export function plainHttpUrl(text: string): URL | undefined {
  const url = httpUrl(text)
  return url?.search === '' && url.hash === '' ? url : undefined
}

function httpUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : undefined
}
