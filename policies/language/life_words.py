"""Words by which people tell of themselves and of their lives."""

from __future__ import annotations

from policies.language.sentences import words

SELF = frozenset({"i", "i'm", "im", "i've", "ive", "i'd", "i'll", "my", "mine", "me", "myself", "id", "ill"})
SELF_SUBJECT = frozenset({"i", "i'm", "im", "i've", "ive", "i'd", "i'll"})
SPEAKER = SELF_SUBJECT | {"we", "we're", "we've", "we'll", "we'd"}
CLITIC = frozenset({"im", "ive", "id", "ill"})
WE = frozenset({"we", "we're", "we've", "we'll", "we'd", "our", "ours", "us"})
YOU = frozenset({"you", "your", "you're", "you've", "you'll", "you'd", "yours", "u", "ur", "yourself"})
THIRD = frozenset({"he", "she", "his", "her", "they", "their", "him", "he's", "she's", "they're"})

RELATION = words(
    "mom mum mother dad father parents parent sister brother siblings sibling son daughter kid kids child "
    "children baby wife husband spouse partner girlfriend boyfriend fiance fiancee fiancé fiancée grandma "
    "grandpa grandmother grandfather grandson granddaughter grandkids grandchildren aunt uncle cousin "
    "cousins niece nephew nieces nephews family friend friends roommate roommates neighbor neighbour boss "
    "coworker coworkers colleague colleagues ex twins dog dogs cat cats pet pets puppy puppies kitten "
    "kittens horse horses bird fish rabbit hamster parrot turtle therapist doctor teacher mentor"
)
POSSESSION = words(
    "house home apartment flat condo farm car truck bike motorcycle van boat job career business company "
    "shop store restaurant studio office school college university degree major class classes course "
    "salary budget savings debt mortgage rent loan birthday wedding anniversary divorce diet allergy "
    "allergies health surgery hobby hobbies garden guitar piano name age favorite favourite fav goal goals "
    "plan plans dream project book novel blog channel computer laptop phone address number email team band "
    "church hair"
)
LASTING = words(
    "live lived living relocated based retired switched "
    "upgraded work worked working works own owned love loved loves like liked hate hated prefer "
    "enjoy enjoyed enjoys have had has play played playing plays collect study studied studying teach "
    "taught teaching married divorced retired single pregnant engaged vegan vegetarian allergic diabetic "
    "grew born raised moved moving bought sold adopted started quit stopped graduated volunteer volunteered "
    "volunteering signed joined learned learning cook cooking bake baking paint painting write writing "
    "wrote read reading travel traveled travelled travelling traveling visit visited visiting went going "
    "plan planning want wanted need needed trying try tried save saving drive drove run "
    "running hike hiking watch watched watching listen use used using make made making eat ate eating "
    "drink drinking got getting took take taking met lost won passed finished finishing spend spent booked "
    "decided dream afraid scared interested fan favorite favourite attend attended grow growing build "
    "building built train training coach practice practicing sing singing dance dancing ride riding fish "
    "fishing hunt hunting wear dislike miss missed opened opening accepted applied hired fired promoted "
    "earn swim camping surf ski"
)
TIME = words(
    "yesterday today tomorrow tonight weekend week month year years months weeks monday tuesday wednesday "
    "thursday friday saturday sunday january february march april june july august september october "
    "november december ago last next recently lately birthday soon weekends summer winter fall spring"
)
LIFE_EVENT = words("divorced divorcing engaged pregnant diagnosed fired promoted hired died cancer surgery widowed")
LIKING = frozenset(
    {"love", "like", "hate", "prefer", "favorite", "favourite", "enjoy", "fan", "loves", "into", "rather"}
)
HABIT = frozenset({"usually", "always", "never", "often", "every", "sometimes", "used", "mostly", "only"})
