-- Removes dead letters (ARGV[3]…) from the range ARGV[1]..ARGV[2] of a list, else from anywhere in it; returns their
-- number. A dead letter is identified by its text, since other programs may append to the list and trim it meanwhile. Each
-- one is replaced by a mark, and the marks are removed in one pass: LREM for each dead letter would read the list each
-- time.
local start, stop, counts, found, gone = tonumber(ARGV[1]), tonumber(ARGV[2]), {}, 0, '\0'
for i = 3, #ARGV do counts[ARGV[i]] = (counts[ARGV[i]] or 0) + 1 end
for i, text in ipairs(redis.call('LRANGE', KEYS[1], start, stop)) do
  if (counts[text] or 0) > 0 then
    redis.call('LSET', KEYS[1], start + i - 1, gone)
    counts[text], found = counts[text] - 1, found + 1
  end
end
if found > 0 then redis.call('LREM', KEYS[1], found, gone) end
for text, left in pairs(counts) do
  if left > 0 then found = found + redis.call('LREM', KEYS[1], left, text) end
end
return found
