import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { MEMBER_NAME_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../../../client/generated/limits.ts'
import type { MemberLink, Session } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { emailError, passwordError } from '../../layout/sign-in/credentials.ts'
import { WELCOME } from '../../texts/session/welcome.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, PasswordInput } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { Notice } from '../../ui/states.tsx'

/** Email address, name and password. The address of an invitation is fixed. */
export function WelcomeForm({
  of: { purpose, email: fixedEmail, name: givenName },
  link,
  onSignedIn,
}: {
  of: MemberLink
  link: string
  onSignedIn: (session: Session) => void
}) {
  const [email, setEmail] = useState(fixedEmail ?? '')
  const [name, setName] = useState(givenName && givenName !== fixedEmail ? givenName : '')
  const [password, setPassword] = useState('')
  const [repeated, setRepeated] = useState('')
  const [isTried, setTried] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const needsName = purpose !== 'reset'
  const errors = {
    email: fixedEmail === undefined ? emailError(email) : undefined,
    name: needsName && !name.trim() ? WELCOME.nameMissing : undefined,
    password: passwordError(password),
    repeated: passwordError(password) ? undefined : passwordError(password, repeated),
  }
  const use = useMutation({
    mutationFn: () =>
      installation.sessions.acceptLink({
        link,
        password,
        ...(fixedEmail === undefined && { email: email.trim() }),
        ...(needsName && { name: name.trim() }),
      }),
    onSuccess: onSignedIn,
  })
  const submit = () => {
    setTried(true)
    if (Object.values(errors).every((error) => error === undefined)) return use.mutate()
    // The first wrong field, as soon as it is marked.
    setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
  }
  return (
    <Form ref={form} onSubmit={submit}>
      <Field label={WELCOME.email} error={isTried && errors.email}>
        <Input
          type="email"
          name="email"
          autoComplete="username"
          readOnly={fixedEmail !== undefined}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      {needsName && (
        <Field label={WELCOME.name} error={isTried && errors.name}>
          <Input
            name="name"
            autoComplete="name"
            maxLength={MEMBER_NAME_MAX_LENGTH}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      )}
      <Field
        label={WELCOME.password}
        hint={WELCOME.passwordHint(PASSWORD_MIN_LENGTH)}
        error={isTried && errors.password}
      >
        <PasswordInput
          name="password"
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      <Field label={WELCOME.repeat} error={isTried && errors.repeated}>
        <PasswordInput
          name="repeated"
          autoComplete="new-password"
          value={repeated}
          onChange={(event) => setRepeated(event.target.value)}
        />
      </Field>
      {use.error && <Notice tone="danger">{use.error.message}</Notice>}
      <Button type="submit" look="primary" size="large" isBusy={use.isPending}>
        {WELCOME[purpose].submit}
      </Button>
    </Form>
  )
}
