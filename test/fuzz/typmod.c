/*
 * typmod.c - fuzzing of type modifiers: words that users write, and numbers that stand in the catalogs.
 *
 * The first byte of an input says what is done with the rest.
 */
#include "backend.h"

#include "check.h"
#include "keys/typmod.h"

typedef struct Input
{
	const uint8_t *bytes;
	size_t		size;
} Input;

static const TdeModifiers shipped = TDE_SHIPPED_MODIFIERS;

/* Words behind each other, each with its zero; list_nth_cell() and foreach() are all that is done with a List. */
static List *
list_of(const char *text, size_t size, int room)
{
	List	   *list = palloc(offsetof(List, initial_elements) + room * sizeof(ListCell));

	list->type = T_List;
	list->length = 0;
	list->max_length = room;
	list->elements = list->initial_elements;
	for (size_t i = 0; i < size && list->length < room; i += strlen(text + i) + 1)
		list->elements[list->length++].ptr_value = pstrdup(text + i);
	return list;
}

/* What was understood can be printed, and is understood again whatever the default is then. */
static void
print_again(const TdeModifiers *mods)
{
	const TdeModifiers other = {{TDE_AES192, TDE_PADDED, TDE_GCM, false}, 0, -1, true, 77};
	TdeModifiers read;
	char	   *printed = psprintf("%s,key=%d", tde_modifiers_words(mods), mods->slot);
	size_t		size = strlen(printed) + 1;

	for (size_t i = 0; i < size; i++)
		if (printed[i] == ',')
			printed[i] = '\0';
	/* a quoted word loses its quotes in SQL's parser */
	for (char *quote = memchr(printed, '\'', size); quote != NULL; quote = memchr(printed, '\'', size))
		memmove(quote, quote + 1, size-- - (quote - printed));
	CHECK(tde_modifiers_parse(list_of(printed, size, 8), &other, true, &read) == NULL);
	CHECK(tde_spec_equal(read.spec, mods->spec) && read.slot == mods->slot && read.unordered == mods->unordered && read.pad == mods->pad);
}

static void
words(void *arg)
{
	Input	   *input = arg;
	bool		slots = input->bytes[0] & 1;
	char	   *text = palloc(input->size);
	TdeModifiers mods;
	char	   *problem;

	memcpy(text, input->bytes + 1, input->size - 1);
	text[input->size - 1] = '\0';
	problem = tde_modifiers_parse(list_of(text, input->size - 1, 16), &shipped, slots, &mods);
	CHECK(problem == NULL || strlen(problem) > 0);
	if (problem == NULL)
	{
		CHECK(tde_spec_refused(mods.spec) == NULL && mods.slot >= 0 && (mods.spec.mode == TDE_PADDED) == (mods.pad > 0) && mods.pad <= TDE_PAD_LARGEST);
		print_again(&mods);
	}
}

static int32
int32_of(const Input *input, size_t at)
{
	int32		value = 0;

	if (input->size >= at + sizeof(value))
		memcpy(&value, input->bytes + at, sizeof(value));
	return value;
}

/* Can this be a modifier of a base type of the layout?  PostgreSQL's typmod_in functions see to it. */
static bool
base_typmod_possible(TdeModLayout layout, int32 typmod)
{
	switch (layout)
	{
		case TDE_MOD_NONE:
			return typmod == -1;
		case TDE_MOD_NUMERIC:
			return typmod == -1 || typmod >= VARHDRSZ + (1 << 16);
		case TDE_MOD_LENGTH:
			return typmod == -1 || typmod > VARHDRSZ;
		case TDE_MOD_PRECISION:
			return typmod >= -1 && typmod <= 6;
		case TDE_MOD_OTHER:
		case TDE_MOD_LARGE:
			break;
	}
	return typmod >= -1;
}

/* A number in the catalogs is refused, or says what is packed into the same number. */
static void
unpack(void *arg)
{
	TdeModLayout layout = ((Input *) arg)->bytes[0] % (TDE_MOD_OTHER + 1);
	int32		typmod = int32_of(arg, 1);
	int32		again;
	TdeModifiers mods = tde_typmod_unpack(layout, typmod);

	CHECK(tde_spec_refused(mods.spec) == NULL && mods.slot >= 0 && base_typmod_possible(layout, mods.base_typmod));
	CHECK(tde_typmod_pack(layout, &mods, &again) && again == typmod);
	CHECK(tde_typmod_has_low_bits(typmod) == (mods.slot != 0 || mods.base_typmod != -1 || mods.pad != 0));
	CHECK(tde_typmod_number(typmod) == 0);
	CHECK(strlen(tde_modifiers_words(&mods)) > 0);
}

/* The number of a row and what stands beside it are told from everything else. */
static void
number(TdeSpec spec, int32 row)
{
	int32		typmod = tde_typmod_of_number(spec, row);

	CHECK(typmod > 0 && tde_typmod_number(typmod) == row && tde_typmod_has_low_bits(typmod));
	CHECK((((typmod >> 24) & 3) != TDE_NOMAC) == (spec.mac != TDE_NOMAC));
}

/* What a column declares is packed such that nothing of it is lost, or goes into a row. */
static void
pack(void *arg)
{
	Input	   *input = arg;
	TdeModLayout layout = input->bytes[0] % (TDE_MOD_OTHER + 1);
	TdeModifiers mods = {shipped.spec, int32_of(input, 1), int32_of(input, 5)};
	TdeModifiers row;
	TdeModifiers unpacked;
	int32		typmod;

	if (input->size > 9)
		mods.spec = (TdeSpec) {input->bytes[9] & 7, input->bytes[9] >> 3 & 1, input->bytes[9] >> 4 & 3, input->bytes[9] >> 6 & 1};
	if (input->size > 11)
		tde_modifiers_set_pad(&mods, (input->bytes[10] | input->bytes[11] << 8) % (TDE_PAD_LARGEST + 1));
	if (tde_spec_refused(mods.spec) != NULL || !base_typmod_possible(layout, mods.base_typmod))
		return;
	CHECK(tde_spec_equal(tde_typmod_spec(tde_typmod_spec_bits(mods.spec)), mods.spec));
	tde_typmod_read_row_bits(tde_typmod_row_bits(&mods), &row);
	CHECK(tde_spec_equal(row.spec, mods.spec) && row.pad == mods.pad && row.unordered == mods.unordered);
	number(mods.spec, 1 + (mods.slot & 0xfffffe));
	if (!tde_typmod_pack(layout, &mods, &typmod))
		return;
	unpacked = tde_typmod_unpack(layout, typmod);
	CHECK(tde_spec_equal(unpacked.spec, mods.spec) && unpacked.slot == mods.slot && unpacked.pad == mods.pad);
	/* of a numeric's 32 bits some mean nothing */
	CHECK(unpacked.base_typmod == mods.base_typmod || layout == TDE_MOD_NUMERIC);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data + 1, size - 1};

	if (size < 2)
		return 0;
	backend_try(data[0] % 3 == 0 ? words : data[0] % 3 == 1 ? unpack : pack, &input);
	return 0;
}
