// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of the look and weight of the console's pages, one for each kind of fault that check:console finds. */
export const consolePages: readonly Mutation[] = [
  {
    name: 'console pages: pages do not name their language',
    file: 'src/console/layout.ts',
    find: '<html lang="en"',
    replace: '<html',
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: the main button is hard to read in the light theme',
    file: 'src/web/base.css',
    find: '--accent-ink: light-dark(#ffffff, #06231a)',
    replace: '--accent-ink: light-dark(#6fbf9f, #06231a)',
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: the main button is hard to read in the dark theme',
    file: 'src/web/base.css',
    find: '--accent-ink: light-dark(#ffffff, #06231a)',
    replace: '--accent-ink: light-dark(#ffffff, #ffffff)',
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: a picture comes from another origin',
    file: 'src/console/app.ts',
    find: `contentPolicy("'none'"),`,
    replace: `contentPolicy("'none'").replace("img-src 'self'", 'img-src *'),
  Link: '<https://elsewhere.example/a.png>; rel=preload; as=image',`,
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: an element has a style attribute',
    file: 'src/console/layout.ts',
    find: '<main id="main">',
    replace: '<main id="main" style="color: inherit">',
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: a script moves the page after it was shown',
    file: 'src/console/assets/console.js',
    find: '// Makes pages more comfortable. Every page works without it.\n',
    replace: "setTimeout(() => document.querySelector('main').style.setProperty('margin-top', '150px'), 100)\n",
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: a script throws',
    file: 'src/console/assets/console.js',
    find: '// Makes pages more comfortable. Every page works without it.\n',
    replace: "setTimeout(() => document.querySelector('#nothing').focus())\n",
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: scripts are too large',
    file: 'src/console/assets.ts',
    find: 'const load = (name: string): Asset => asset(name, read(name))',
    replace:
      "const more = Array.from({ length: 700 }, (_, index) => hash('sha256', `${index}`)).join('')\nconst load = (name: string): Asset => asset(name, read(name) + (name === 'console.js' ? `/*${more}*/` : ''))",
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: the style sheet is too large',
    file: 'src/console/assets.ts',
    find: "baseStyles + read('console.css')",
    replace:
      "`${baseStyles}${read('console.css')}/*${Array.from({ length: 4000 }, (_, index) => hash('sha256', `${index}`)).join('')}*/`",
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: forms are wider than a phone',
    file: 'src/console/assets/console.css',
    find: '  grid-template-columns: minmax(0, 1fr);\n  gap: 16px;\n',
    replace: '  grid-template-columns: minmax(400px, 1fr);\n  gap: 16px;\n',
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: a target is too small for a finger',
    file: 'src/web/base.css',
    find: '  min-height: 32px;\n  gap: 9px;\n',
    replace: '  gap: 9px;\n',
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: the chosen theme has no effect',
    file: 'src/console/layout.ts',
    find: '${themeAttribute(theme)}',
    replace: '',
    caughtBy: 'check:console -- --contents 1 --only /login',
  },
  {
    name: 'console pages: refusals forget the theme',
    file: 'src/console/app.ts',
    find: 'refusalPage(refusal, theme)',
    replace: 'refusalPage(refusal, undefined)',
    caughtBy: 'check:console -- --contents 1 --only unknown',
  },
  {
    name: 'console pages: a long domain has no page',
    file: 'src/console/app.ts',
    find: 'maxParamLength: 253',
    replace: 'maxParamLength: 100',
    caughtBy: 'check:console -- --only :domain/settings/exclusions',
  },
  {
    name: 'console pages: stored text becomes markup',
    file: 'src/web/html.ts',
    find: '/[&<>"\']/g',
    replace: '/[&"\']/g',
    caughtBy: 'test/console/stored-script.test.ts',
  },
  {
    name: 'console pages: stored text ends an attribute',
    file: 'src/web/html.ts',
    find: '/[&<>"\']/g',
    replace: '/[&<]/g',
    caughtBy: 'test/console/stored-script.test.ts',
  },
  {
    name: 'console pages: a new page that no test opens',
    file: 'src/console/routes.ts',
    find: '  ...accountRoutes,\n',
    replace: "  ...accountRoutes,\n  { ...(signInRoutes[0] as Route), path: '/more' } as Route,\n",
    caughtBy: 'test/console/gate.test.ts',
  },
]
