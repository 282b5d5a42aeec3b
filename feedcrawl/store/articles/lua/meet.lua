-- Adds an article to a bucket; a new version of the article keeps its place. Returns the articles that came before it, in
-- order, as [uid, fingerprint]…; only those with a text of ARGV[5] to ARGV[6] characters, since others cannot be similar.
local uid, left, size, life = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local least, most, compared = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local mine = redis.call('HGET', KEYS[1], uid)
local place = mine and tonumber(string.match(mine, '^%d+'))
if not place then
  if redis.call('HLEN', KEYS[1]) > size then return {} end
  place = redis.call('HINCRBY', KEYS[1], '#', 1)
end
redis.call('HSET', KEYS[1], uid, place .. ' ' .. left)
redis.call('EXPIRE', KEYS[1], life)
local all, before, answer = redis.call('HGETALL', KEYS[1]), {}, {}
for i = 1, #all, 2 do
  local number, chars = string.match(all[i + 1], '^(%d+) [^:]*:(%d+):')
  number, chars = tonumber(number), tonumber(chars)
  if number and number < place and chars >= least and chars <= most then
    before[#before + 1] = {number, all[i], string.sub(all[i + 1], string.find(all[i + 1], ' ') + 1)}
  end
end
table.sort(before, function(a, b) return a[1] < b[1] end)
for i = math.max(1, #before - compared + 1), #before do
  answer[#answer + 1], answer[#answer + 2] = before[i][2], before[i][3]
end
return answer
