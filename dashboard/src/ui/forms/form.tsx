import type { ComponentProps } from 'react'

/** A form that a script sends. Its fields show by themselves what is wrong, unless `noValidate` is false: then the browser does. */
export function Form({
  onSubmit,
  noValidate = true,
  ...form
}: Omit<ComponentProps<'form'>, 'onSubmit' | 'className'> & { onSubmit: () => unknown }) {
  return (
    <form
      {...form}
      noValidate={noValidate}
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void onSubmit()
      }}
    />
  )
}
