import { Button, Group, MultiSelect, Popover, Select, Stack, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAdjustmentsHorizontal, IconFilterOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { eventTypesQuery, streamersQuery } from '../api/queries.js';
import { useShortcuts } from '../kit/shortcuts.js';
import type { EventFilters, FilterName } from './event-filters.js';
import { parseLocalTime, printLocalTime } from './local-time.js';

const maxTypes = 20;
// The service creates these events itself, so they have no subscription.
const otherTypes = ['subscription-revocation'];

interface FilterBarProps {
  filters: EventFilters;
  onChange: (change: EventFilters) => void;
  onClear: () => void;
}

/** The filters are part of the URL, so users can bookmark and share a view. */
export function FilterBar({ filters, onChange, onClear }: FilterBarProps) {
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const count = Object.keys(filters).length;
  // Show how many hidden filters are active, so that users understand why events are missing.
  const hiddenCount = isPhone ? count : rareFilters.filter(({ name }) => filters[name] !== undefined).length;
  const first = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', title: 'Filter the events', run: () => first.current?.focus() }]);
  const common = <CommonFilters {...{ filters, onChange }} firstInput={first} />;
  return (
    <Group gap="xs" wrap="wrap">
      {!isPhone && common}
      <Popover width={300} position="bottom-start" trapFocus withinPortal>
        <Popover.Target>
          <Button variant="default" size="xs" leftSection={<IconAdjustmentsHorizontal size={14} />}>
            {isPhone ? 'Filters' : 'More'}
            {hiddenCount > 0 && ` (${hiddenCount})`}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="xs">
            {isPhone && common}
            <RareFilters {...{ filters, onChange }} />
          </Stack>
        </Popover.Dropdown>
      </Popover>
      {count > 0 && (
        <Button variant="subtle" size="xs" leftSection={<IconFilterOff size={14} />} onClick={onClear}>
          Clear
        </Button>
      )}
    </Group>
  );
}

type FilterProps = Pick<FilterBarProps, 'filters' | 'onChange'>;

function CommonFilters({
  filters,
  onChange,
  firstInput,
}: FilterProps & { firstInput: React.RefObject<HTMLInputElement | null> }) {
  const { data: types = [] } = useQuery(eventTypesQuery);
  const { data: streamers = [] } = useQuery(streamersQuery);
  const chosen = (filters.event_types ?? filters.event_type ?? '').split(',').filter(Boolean);
  const names = new Set([...types.map(({ event_type }) => event_type), ...otherTypes, ...chosen]);
  const channels = new Map(
    streamers.map(({ platform_id, platform_username }) => [platform_id, platform_username]),
  );
  if (filters.channel_id && !channels.has(filters.channel_id))
    channels.set(filters.channel_id, filters.channel_id);
  return (
    <>
      <MultiSelect
        ref={firstInput}
        aria-label="Event types"
        size="xs"
        w={{ base: '100%', sm: 300 }}
        placeholder={chosen.length === 0 ? 'All event types' : ''}
        data={[...names].sort()}
        value={chosen}
        onChange={(values) => onChange({ event_types: values.join(','), event_type: '' })}
        maxValues={maxTypes}
        searchable
        clearable
        hidePickedOptions
        nothingFoundMessage="There is no such type"
        comboboxProps={{ withinPortal: false }}
      />
      <Select
        aria-label="Channel"
        size="xs"
        w={{ base: '100%', sm: 170 }}
        placeholder="All channels"
        data={[...channels].map(([value, label]) => ({ value, label }))}
        value={filters.channel_id ?? null}
        onChange={(value) => onChange({ channel_id: value ?? '' })}
        searchable
        clearable
        comboboxProps={{ withinPortal: false }}
      />
      <TextFilter name="user_name" label="User" {...{ filters, onChange }} />
      <Select
        aria-label="Origin"
        size="xs"
        w={{ base: '100%', sm: 130 }}
        placeholder="Any origin"
        data={[
          { value: 'platform', label: 'Platform' },
          { value: 'test', label: 'Test events' },
        ]}
        value={filters.origin ?? null}
        onChange={(value) => onChange({ origin: value ?? '' })}
        clearable
        comboboxProps={{ withinPortal: false }}
      />
    </>
  );
}

const rareFilters: readonly { name: FilterName; label: string; isTime?: boolean }[] = [
  { name: 'raid_from', label: 'Raid from' },
  { name: 'raid_to', label: 'Raid to' },
  { name: 'user_id', label: 'User id' },
  { name: 'broadcaster_user_id', label: 'Broadcaster id' },
  { name: 'reward_id', label: 'Reward id' },
  { name: 'event_source', label: 'Event source' },
  { name: 'event_id', label: 'Message id' },
  { name: 'since', label: 'Since', isTime: true },
  { name: 'until', label: 'Until', isTime: true },
];

function RareFilters(props: FilterProps) {
  return rareFilters.map((filter) => <TextFilter key={filter.name} {...filter} {...props} isLabeled />);
}

interface TextFilterProps extends FilterProps {
  name: FilterName;
  label: string;
  /** The field shows a time in the browser's time zone. The filter uses UTC. */
  isTime?: boolean;
  isLabeled?: boolean;
}

/** Applies on blur or Enter, not after each keystroke. */
function TextFilter({ name, label, isTime = false, isLabeled = false, filters, onChange }: TextFilterProps) {
  const value = filters[name] ?? '';
  const current = isTime ? printLocalTime(value) : value;
  const [text, setText] = useState(current);
  const [shown, setShown] = useState(current);
  if (shown !== current) {
    // The filter changed outside this field, for example when the user cleared all filters.
    setShown(current);
    setText(current);
  }
  const apply = (): void => {
    if (text.trim() !== current) onChange({ [name]: isTime ? parseLocalTime(text) : text.trim() });
  };
  return (
    <TextInput
      size="xs"
      w={isLabeled ? '100%' : { base: '100%', sm: 130 }}
      label={isLabeled ? label : undefined}
      aria-label={label}
      placeholder={isLabeled ? '' : label}
      {...(isTime && { type: 'datetime-local', step: 1 })}
      value={text}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply();
      }}
    />
  );
}
