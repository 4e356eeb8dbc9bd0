/** Every event there is, in the words a subscriber reads. */
export const eventMeanings = {
  'lead.created': 'A lead was created.',
  'lead.updated': 'Fields of a lead changed.',
  'lead.stage_changed': 'A lead moved to another stage.',
  'lead.assigned': 'A lead was given to an agent.',
  'lead.won': 'A lead reached the stage won.',
  'lead.lost': 'A lead reached the stage lost.',
  'property.created': 'A property was created.',
  'property.updated': 'Fields of a property changed.',
  'property.status_changed': 'The status of a property changed.',
  'unit.created': 'A unit was created.',
  'unit.updated': 'Fields of a unit changed.',
  'unit.sold': 'A unit was sold.',
  'agent.created': 'An agent was added and invited.',
  'agent.deactivated': 'An agent was deactivated.',
  'deal.created': 'A lead was won for a property or unit, which opened a deal.',
  'deal.closed': 'A deal was closed.',
  'commission.calculated': 'The commission of a deal was computed.',
  'invoice.created': 'The invoice of a closed deal was made.',
} as const

export type EventName = keyof typeof eventMeanings
export const eventNames = Object.keys(eventMeanings) as EventName[]

/** Something that happened to one record. `data` is the record as GET shows it, with `previous` where values changed. */
export interface Event {
  name: EventName
  data: { id: string }
}

export const event = (name: EventName, data: { id: string }): Event => ({ name, data })

/** Of a change: the record as it is now and the values it had. */
export const changeEvent = <R extends { id: string }>(
  name: EventName,
  after: R,
  previous: Partial<R>,
): Event => ({
  name,
  data: { ...after, previous } as { id: string },
})
