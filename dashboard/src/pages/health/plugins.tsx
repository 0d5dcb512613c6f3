import type { SystemReport } from '../../../../client/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { HEALTH } from './texts.ts'

type Plugin = SystemReport['plugins'][number]

/** The loaded plugins, by what they do. A transformation for several types is listed under each. */
export function Plugins({ plugins }: Pick<SystemReport, 'plugins'>) {
  return (
    <Card title={HEALTH.plugins} description={HEALTH.pluginCount(plugins.length)}>
      <dl className="flex flex-col gap-4">
        {[...groupsOf(plugins)].map(([title, names]) => (
          <div key={title}>
            <dt className="mb-1.5 text-muted text-sm">{title}</dt>
            <dd className="flex flex-wrap gap-1.5">
              {names.map((name) => (
                <Badge key={name}>{name}</Badge>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

function groupsOf(plugins: readonly Plugin[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const { name, kind, types } of plugins)
    for (const title of types?.map((type) => HEALTH.transformationsOf(type)) ?? [HEALTH.kinds[kind]])
      groups.set(title, [...(groups.get(title) ?? []), name])
  return groups
}
