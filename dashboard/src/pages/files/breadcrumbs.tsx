import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { Fragment } from 'react'
import { useClient } from '../../api/session.ts'
import { FILES } from './texts.ts'

/** The folders above the current one, as links, and its own name as the heading of the page. */
export function Breadcrumbs({ folder }: { folder: string }) {
  const { client } = useClient()
  const names = folder === '' ? [] : folder.split('/')
  const heading = 'truncate font-semibold text-xl tracking-tight'
  if (names.length === 0) return <h1 className={heading}>{FILES.title}</h1>
  const above = [FILES.title, ...names.slice(0, -1)]
  return (
    <nav aria-label={FILES.breadcrumbs} className="flex min-w-0 flex-wrap items-center gap-x-1">
      {above.map((name, depth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two folders may have the same name, the depth differs
        <Fragment key={depth}>
          <Link
            to="/c/$clientId/files/$"
            params={{ clientId: client.id, _splat: names.slice(0, depth).join('/') }}
            className="max-w-48 truncate rounded-sm text-lg text-muted hover:text-ink hover:underline"
          >
            {name}
          </Link>
          <ChevronRight aria-hidden="true" className="size-4 shrink-0 text-faint" />
        </Fragment>
      ))}
      <h1 className={heading} aria-current="page">
        {names.at(-1)}
      </h1>
    </nav>
  )
}
