import type { Service } from '../service.ts'

/** With what the service has answered requests for an address from now on that have come to their end: `200 206`. */
export function answersTo({ log }: Pick<Service, 'log'>, url: string): () => string {
  const from = log.lines.length
  const { pathname } = new URL(url)
  return () =>
    log.lines
      .slice(from)
      .filter(({ message, fields }) => message === 'request' && fields.path === pathname)
      // Of those that the client has left before, none.
      .flatMap(({ fields }) => fields.status ?? [])
      .sort()
      .join(' ')
}
