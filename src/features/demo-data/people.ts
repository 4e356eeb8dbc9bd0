/** Who works in the demo workspace, and the names of those who might buy. */

export const demoTeams = ['Lisbon', 'Porto', 'International'] as const

export interface DemoAgent {
  name: string
  email: string
  role: 'admin' | 'agent' | 'viewer'
  team: (typeof demoTeams)[number]
  tier: string
  rate: number
  languages: string[]
}

export const demoAgents: DemoAgent[] = [
  agent('Sara Almeida', 'admin', 'Lisbon', 'senior', 0.035, ['pt', 'en']),
  agent('Tiago Ferreira', 'agent', 'Lisbon', 'standard', 0.025, ['pt', 'en', 'es']),
  agent('Marta Nunes', 'agent', 'Lisbon', 'senior', 0.03, ['pt', 'fr']),
  agent('Rui Carvalho', 'agent', 'Porto', 'standard', 0.025, ['pt', 'en']),
  agent('Helena Matos', 'agent', 'Porto', 'senior', 0.03, ['pt', 'de']),
  agent('Omar Haddad', 'agent', 'International', 'senior', 0.035, ['en', 'ar', 'fr']),
  agent('Ingrid Larsen', 'agent', 'International', 'standard', 0.025, ['en', 'no', 'de']),
]

function agent(
  name: string,
  role: DemoAgent['role'],
  team: DemoAgent['team'],
  tier: string,
  rate: number,
  languages: string[],
): DemoAgent {
  const email = `${name.toLowerCase().replace(' ', '.')}@demo-realty.example`
  return { name, email, role, team, tier, rate, languages }
}

export const firstNames = [
  'Amina',
  'Bruno',
  'Clara',
  'Diego',
  'Elena',
  'Farid',
  'Greta',
  'Hugo',
  'Inês',
  'Jonas',
  'Karim',
  'Lena',
  'Miguel',
  'Nora',
  'Olivier',
  'Paula',
  'Quentin',
  'Rosa',
  'Stefan',
  'Teresa',
  'Umberto',
  'Vera',
  'Wei',
  'Yara',
] as const

export const lastNames = [
  'Abreu',
  'Bauer',
  'Costa',
  'Dubois',
  'Eriksen',
  'Fontaine',
  'Gomes',
  'Haas',
  'Ivanova',
  'Jensen',
  'Kowalski',
  'Lopes',
  'Moreau',
  'Novak',
  'Oliveira',
  'Pereira',
  'Quintela',
  'Rossi',
  'Silva',
  'Tanaka',
  'Urbano',
  'Vieira',
  'Weber',
  'Xavier',
  'Yilmaz',
  'Zimmer',
  'Rahman',
] as const

export const remarks = [
  'Wants to see the show flat again with the family.',
  'Asked for the payment plan and the service charges.',
  'Prefers a high floor with a view of the river.',
  'Compares us with a project across the bridge.',
  'Bank has confirmed the mortgage in principle.',
  'Would like to move in before the school year.',
  'Looking for a place to let out short-term.',
] as const
