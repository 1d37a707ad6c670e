import { Checkbox, MultiSelect, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { useState } from 'react';
import { eventTypesQuery, streamersQuery } from '../api/queries.js';
import { tokenScopes, type Scope } from './token-scopes.js';

/** The user's choices for a named token. Without event types or channels, the token is not limited to any. */
export interface TokenDraft {
  name: string;
  scopes: string[];
  eventTypes: string[];
  channelIds: string[];
}

export function toTokenBody({ name, scopes, eventTypes, channelIds }: TokenDraft) {
  return {
    name,
    scopes: scopes as Scope[], // Safe cast: the values of the checkboxes.
    event_types: eventTypes.length > 0 ? eventTypes : null,
    channel_ids: channelIds.length > 0 ? channelIds : null,
  } satisfies Omit<components['schemas']['TokenBody'], 'expires'>;
}

const dayMs = 86_400_000;

/** The choices for how many days from now a token is valid. */
const lifetimes = [
  { value: '', label: 'Until it is revoked' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
];

/** Returns `expires` for a token that is valid for this many days from now; null, which means no end, for the empty text. */
export function toExpires(days: string): string | null {
  return days === '' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString();
}

interface TokenFieldsProps {
  draft: TokenDraft;
  onChange: (draft: TokenDraft) => void;
  /** Errors by API field name. */
  errors: Record<string, string>;
}

/** Form fields for creating and changing tokens. */
export function TokenFields({ draft, onChange, errors }: TokenFieldsProps) {
  const { name, scopes, eventTypes, channelIds } = draft;
  const isLimited = eventTypes.length > 0 || channelIds.length > 0;
  const change = (changed: Partial<TokenDraft>): void => onChange({ ...draft, ...changed });
  return (
    <>
      <TextInput
        label="Name"
        description="The program that uses the token, so that you recognize it later"
        placeholder="Alerts overlay"
        value={name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        error={errors.name}
        maxLength={64}
        required
        withAsterisk={false}
        data-autofocus
      />
      <Checkbox.Group
        label="The token may"
        value={scopes}
        onChange={(value) => change({ scopes: value })}
        error={errors.scopes}
      >
        <Stack gap={6} mt={4}>
          {tokenScopes.map(({ scope, text, isLimitable }) => (
            <Checkbox
              key={scope}
              value={scope}
              label={text}
              size="xs"
              disabled={isLimited && !isLimitable && !scopes.includes(scope)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <EventTypeLimit
        value={eventTypes}
        onChange={(value) => change({ eventTypes: value })}
        error={errors.event_types}
      />
      <ChannelLimit
        value={channelIds}
        onChange={(value) => change({ channelIds: value })}
        error={errors.channel_ids}
      />
      {isLimited && (
        <Text size="xs" c="dimmed">
          A limited token can only read. The other rights would allow more than its limits.
        </Text>
      )}
    </>
  );
}

interface LifetimeFieldProps {
  value: string;
  onChange: (days: string) => void;
  error: string | undefined;
  /** The choice that keeps the token's expiry. */
  unchanged?: { value: string; label: string };
}

export function LifetimeField({ value, onChange, error, unchanged }: LifetimeFieldProps) {
  return (
    <Select
      label="Valid"
      data={unchanged ? [unchanged, ...lifetimes] : lifetimes}
      value={value}
      onChange={(days) => onChange(days ?? '')}
      allowDeselect={false}
      error={error}
      maw={360}
    />
  );
}

interface LimitProps {
  value: string[];
  onChange: (value: string[]) => void;
  error: string | undefined;
}

function EventTypeLimit(props: LimitProps) {
  const { data: types = [] } = useQuery(eventTypesQuery);
  return (
    <MultiSelect
      label="Only these event types"
      placeholder={props.value.length === 0 ? 'All event types' : ''}
      data={[...new Set([...types.map(({ event_type }) => event_type), ...props.value])]}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Allow all event types' }}
      maxValues={100}
      {...props}
    />
  );
}

function ChannelLimit(props: LimitProps) {
  const { data: streamers = [] } = useQuery(streamersQuery);
  const [search, setSearch] = useState('');
  const known = streamers.map(({ platform_id: value, platform_username: label }) => ({ value, label }));
  // Accept channels that are not monitored: a raiding channel, for example, does not have to be.
  const others = [...props.value, search]
    .filter((id) => /^\d{1,20}$/.test(id) && known.every(({ value }) => value !== id))
    .map((id) => ({ value: id, label: `Channel ${id}` }));
  return (
    <MultiSelect
      label="Only these channels"
      description="Choose streamers, or type the id of another channel"
      placeholder={props.value.length === 0 ? 'All channels' : ''}
      data={[...known, ...new Map(others.map((each) => [each.value, each])).values()]}
      searchable
      searchValue={search}
      onSearchChange={setSearch}
      clearable
      clearButtonProps={{ 'aria-label': 'Allow all channels' }}
      maxValues={100}
      {...props}
    />
  );
}
