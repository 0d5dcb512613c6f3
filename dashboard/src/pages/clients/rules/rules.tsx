import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Client, ClientChange } from '../../../../../client/index.ts'
import { installation } from '../../../api/clients.ts'
import { paramOf } from '../../../api/param-of.ts'
import { CLIENTS, RULES } from '../../../texts/clients.ts'
import { Button } from '../../../ui/button.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { Card } from '../../../ui/page.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { ErrorState, Notice } from '../../../ui/states.tsx'
import { useReloadClients } from '../data.ts'
import { RuleInput, type RuleValue } from './fields.tsx'
import { type RuleField, rulesQuery } from './schema.ts'

type Section = keyof typeof RULES.sections

/** The rule that an error of the service is about: `rates` for `rules.rates.zip`. */
function ruleOf(error: Error | null): string | undefined {
  return paramOf(error)
    ?.replace(/^rules\./, '')
    .split(/[.[]/)[0]
}

const SECTIONS: Readonly<Record<string, Section>> = {
  signedUrls: 'delivery',
  privateFolders: 'delivery',
  presetsOnly: 'delivery',
  browserCacheSeconds: 'delivery',
  cdnCacheSeconds: 'delivery',
  staleWhileRevalidateSeconds: 'delivery',
  staleIfErrorSeconds: 'delivery',
  allowedWidths: 'derivatives',
  variantLimit: 'derivatives',
  derivativesMaxBytes: 'derivatives',
  uploadMaxBytes: 'uploads',
  uploadTypes: 'uploads',
  uploadMinPixels: 'uploads',
  uploadMaxPixels: 'uploads',
  uploadDecodable: 'uploads',
  keepDeletedSeconds: 'files',
  dedupe: 'files',
  fetchHosts: 'fetch',
  fetchDenyHosts: 'fetch',
  rates: 'rates',
}

/** The rules by section. A rule that this page does not know is in the last one. */
function sectionsOf(fields: readonly RuleField[]): Array<[Section, RuleField[]]> {
  const of = (section: Section) => fields.filter(({ name }) => (SECTIONS[name] ?? 'others') === section)
  return (Object.keys(RULES.sections) as Section[])
    .map((section): [Section, RuleField[]] => [section, of(section)])
    .filter(([, some]) => some.length > 0)
}

/** All rules of a client except its presets, in a form that is made from the API document. */
export function RulesPart({ client }: { client: Client }) {
  const { data: fields, error, refetch } = useQuery(rulesQuery)
  const reload = useReloadClients()
  const [changes, setChanges] = useState<Record<string, RuleValue>>({})
  // Fields keep texts, for example of lists. A new version makes new fields.
  const [version, setVersion] = useState(0)
  const reset = () => {
    setChanges({})
    setVersion((before) => before + 1)
    save.reset()
  }
  const save = useMutation({
    mutationFn: () =>
      installation.clients.update(client.id, { rules: changes as ClientChange['rules'] & object }),
    onSuccess: async () => {
      await reload()
      reset()
      toast.success(CLIENTS.saved)
    },
  })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!fields) return <SkeletonRows rows={8} rowHeight={64} />
  const stored = (client.rules ?? {}) as Record<string, RuleValue>
  const wrong = ruleOf(save.error)
  const count = Object.keys(changes).length
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Card title={CLIENTS.rules} description={RULES.text}>
      <form onSubmit={submit} noValidate>
        <div key={version} className="flex flex-col gap-8">
          {sectionsOf(fields).map(([section, some]) => (
            <section key={section} aria-label={RULES.sections[section]} className="flex flex-col gap-5">
              <h3 className="border-line border-b pb-1.5 font-semibold">{RULES.sections[section]}</h3>
              {some.map((field) => (
                <RuleInput
                  key={field.name}
                  field={field}
                  value={field.name in changes ? (changes[field.name] ?? null) : (stored[field.name] ?? null)}
                  onChange={(value) => setChanges((before) => ({ ...before, [field.name]: value }))}
                  error={wrong === field.name ? save.error?.message : undefined}
                />
              ))}
            </section>
          ))}
        </div>
        {save.error && !fields.some(({ name }) => name === wrong) && (
          <div className="mt-4">
            <Notice tone="danger">{save.error.message}</Notice>
          </div>
        )}
        <div className="sticky bottom-0 -mx-4 mt-6 -mb-4 flex items-center gap-2 border-line border-t bg-surface px-4 py-3">
          <Button type="submit" look="primary" disabled={count === 0} isBusy={save.isPending}>
            {RULES.save}
          </Button>
          <Button look="quiet" disabled={count === 0} onClick={reset}>
            {RULES.discard}
          </Button>
          {count > 0 && <span className="text-muted text-sm">{RULES.unsaved(count)}</span>}
        </div>
      </form>
    </Card>
  )
}
