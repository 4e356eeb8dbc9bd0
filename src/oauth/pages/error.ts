import { html, page } from './layout.ts'

export const errorPage = (message: string): string =>
  page(
    'Something is wrong',
    html`<h1>This does not work</h1>
<p role="alert">${message}</p>
<p class="soft">Go back to the application you came from and try again. If it stays like this, tell the people who run it.</p>`,
  )
