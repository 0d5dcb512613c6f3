import { useId } from 'react'
import type { Member, SessionClient } from '../../../../client/index.ts'
import { nameOf } from '../../api/session.ts'
import { MEMBERS } from '../../texts/members.ts'
import { Checkbox, Segmented } from '../../ui/forms/choices.tsx'

/** All clients, or some of them. */
export function ClientChoice({
  clients,
  value,
  onChange,
  error,
}: {
  clients: readonly SessionClient[]
  value: Member['clients']
  onChange: (value: Member['clients']) => void
  error: string | undefined
}) {
  const id = useId()
  const chosen = value === 'all' ? [] : value
  const toggle = (client: SessionClient, isChosen: boolean) =>
    onChange(isChosen ? [...chosen, client.id] : chosen.filter((other) => other !== client.id))
  return (
    <fieldset aria-describedby={error && id} className="flex flex-col gap-2">
      <legend className="mb-1.5 font-medium text-sm">{MEMBERS.clients}</legend>
      <Segmented
        label={MEMBERS.clients}
        value={value === 'all' ? 'all' : 'some'}
        onChange={(next) => onChange(next === 'all' ? 'all' : [])}
        options={[
          { value: 'all', label: MEMBERS.allClients },
          { value: 'some', label: MEMBERS.someClients },
        ]}
      />
      {value !== 'all' && (
        <div className="max-h-48 overflow-y-auto rounded-md border border-line p-1">
          {clients.map((client) => (
            <div key={client.id} className="rounded-sm px-2 py-1.5 hover:bg-hover">
              <Checkbox
                label={nameOf(client)}
                checked={chosen.includes(client.id)}
                onChange={(isChosen) => toggle(client, isChosen)}
              />
            </div>
          ))}
        </div>
      )}
      {error && (
        <p id={id} role="alert" className="text-danger-ink text-sm">
          {error}
        </p>
      )}
    </fieldset>
  )
}
