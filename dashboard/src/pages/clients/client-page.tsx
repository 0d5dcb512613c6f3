import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft, FolderClosed } from 'lucide-react'
import { useState } from 'react'
import type { Client } from '../../../../client/index.ts'
import { nameOf } from '../../api/session.ts'
import { CLIENTS } from '../../texts/clients.ts'
import { Button } from '../../ui/button.tsx'
import { OnceDialog, type ShownOnce } from '../../ui/overlays/once-dialog.tsx'
import { Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState, Notice } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { DeliveryKeys } from './access/delivery-keys.tsx'
import { ScopedSecrets } from './access/scoped-secrets.tsx'
import { Tokens } from './access/tokens.tsx'
import { clientQuery } from './data.ts'
import { PresetsPart } from './presets.tsx'
import { RulesPart } from './rules/rules.tsx'
import { SettingsPart } from './settings.tsx'
import { StoragePart } from './storage/storage.tsx'

/** One client: its tokens, rules, presets, storage and settings. */
export function ClientPage() {
  const { id = '' } = useParams({ strict: false })
  const { data: client, error, refetch } = useQuery(clientQuery(id))
  const title = client ? nameOf(client) : CLIENTS.title
  return (
    <Page
      title={title}
      heading={
        <>
          <Link
            to="/clients"
            className="mb-1 inline-flex items-center gap-1 pointer-coarse:min-h-10 text-muted text-sm hover:text-ink"
          >
            <ArrowLeft aria-hidden="true" className="size-3.5" />
            {CLIENTS.back}
          </Link>
          <h1 className="truncate font-semibold text-xl tracking-tight">{title}</h1>
        </>
      }
      actions={
        client?.state === 'active' && (
          <Button asChild>
            <Link to="/c/$clientId/files/$" params={{ clientId: id, _splat: '' }}>
              <FolderClosed aria-hidden="true" className="size-4" />
              {CLIENTS.openFiles}
            </Link>
          </Button>
        )
      }
    >
      {error && !client && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!error && !client && <Skeleton className="h-96 w-full rounded-lg" />}
      {/* Another client has other fields. */}
      {client && <Parts key={client.id} client={client} />}
    </Page>
  )
}

type Part = 'access' | 'rules' | 'presets' | 'storage' | 'settings'

function Parts({ client }: { client: Client }) {
  const [part, setPart] = useState<Part>(client.state === 'removing' ? 'settings' : 'access')
  const [issued, setIssued] = useState<ShownOnce>()
  return (
    <>
      {client.state === 'removing' && <Notice>{CLIENTS.removingText}</Notice>}
      <Tabs
        label={CLIENTS.tabs}
        value={part}
        onChange={setPart}
        tabs={[
          {
            value: 'access',
            label: CLIENTS.access,
            content: (
              <div className="flex flex-col gap-5">
                <Tokens client={client} onIssued={setIssued} />
                <ScopedSecrets client={client} onIssued={setIssued} />
                <DeliveryKeys client={client} onIssued={setIssued} />
              </div>
            ),
          },
          { value: 'rules', label: CLIENTS.rules, content: <RulesPart client={client} /> },
          { value: 'presets', label: CLIENTS.presets, content: <PresetsPart clientId={client.id} /> },
          { value: 'storage', label: CLIENTS.storage, content: <StoragePart client={client} /> },
          { value: 'settings', label: CLIENTS.settings, content: <SettingsPart client={client} /> },
        ]}
      />
      {issued && <OnceDialog shown={issued} done={CLIENTS.done} onClose={() => setIssued(undefined)} />}
    </>
  )
}
